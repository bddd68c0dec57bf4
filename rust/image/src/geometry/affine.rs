//! Affine maps of the plane, from parts and back. Coordinates are continuous: pixel (0, 0) covers 0 to 1 on both axes.
use super::view::refuse;
use crate::fault::Result;
use crate::pixels::{Size, Window};

/// `x' = a x + b y + c` and `y' = d x + e y + f`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Affine {
    /// How much of `x` goes into `x'`.
    pub a: f64,
    /// How much of `y` goes into `x'`.
    pub b: f64,
    /// What is added to `x'`.
    pub c: f64,
    /// How much of `x` goes into `y'`.
    pub d: f64,
    /// How much of `y` goes into `y'`.
    pub e: f64,
    /// What is added to `y'`.
    pub f: f64,
}

impl Affine {
    /// Nothing moves.
    pub const IDENTITY: Self = Self { a: 1.0, b: 0.0, c: 0.0, d: 0.0, e: 1.0, f: 0.0 };

    /// A move by (`x`, `y`).
    pub fn translation(x: f64, y: f64) -> Self {
        Self { c: x, f: y, ..Self::IDENTITY }
    }

    /// A stretch away from the origin.
    pub fn scaling(x: f64, y: f64) -> Self {
        Self { a: x, e: y, ..Self::IDENTITY }
    }

    /// A turn about the origin by `degrees`, clockwise on a screen, where y points down.
    pub fn rotation(degrees: f64) -> Self {
        let (sine, cosine) = degrees.to_radians().sin_cos();
        Self { a: cosine, b: -sine, d: sine, e: cosine, ..Self::IDENTITY }
    }

    /// A shear: `x' = x + tan(x_degrees) y`, `y' = y + tan(y_degrees) x`.
    pub fn shear(x_degrees: f64, y_degrees: f64) -> Self {
        Self { b: x_degrees.to_radians().tan(), d: y_degrees.to_radians().tan(), ..Self::IDENTITY }
    }

    /// The map of a crop to `window`, resized to `size` and mirrored left to right when `flip` is set.
    pub fn crop(window: Window, size: Size, flip: bool) -> Self {
        let scale = Self::scaling(size.width as f64 / window.width as f64, size.height as f64 / window.height as f64);
        let cropped = Self::translation(-(window.x as f64), -(window.y as f64)).then(&scale);
        if flip { cropped.then(&Self { a: -1.0, c: size.width as f64, ..Self::IDENTITY }) } else { cropped }
    }

    /// The same map about (`x`, `y`) in place of the origin.
    pub fn about(&self, x: f64, y: f64) -> Self {
        Self::translation(-x, -y).then(self).then(&Self::translation(x, y))
    }

    /// This map, then `next`.
    pub fn then(&self, next: &Self) -> Self {
        Self {
            a: next.a * self.a + next.b * self.d,
            b: next.a * self.b + next.b * self.e,
            c: next.a * self.c + next.b * self.f + next.c,
            d: next.d * self.a + next.e * self.d,
            e: next.d * self.b + next.e * self.e,
            f: next.d * self.c + next.e * self.f + next.f,
        }
    }

    /// The map back; a fault if this one flattens the plane.
    pub fn inverse(&self) -> Result<Self> {
        let determinant = self.a * self.e - self.b * self.d;
        if !determinant.is_normal() {
            return refuse("a map that can be undone", format!("{self:?}"));
        }
        let (a, b) = (self.e / determinant, -self.b / determinant);
        let (d, e) = (-self.d / determinant, self.a / determinant);
        Ok(Self { a, b, c: -(a * self.c + b * self.f), d, e, f: -(d * self.c + e * self.f) })
    }

    /// Where (`x`, `y`) goes.
    pub fn apply(&self, x: f64, y: f64) -> (f64, f64) {
        (self.a * x + self.b * y + self.c, self.d * x + self.e * y + self.f)
    }

    /// A fault unless all numbers are finite.
    pub(crate) fn check(&self) -> Result<()> {
        let numbers = [self.a, self.b, self.c, self.d, self.e, self.f];
        if numbers.iter().all(|number| number.is_finite()) {
            return Ok(());
        }
        refuse("finite numbers", format!("{self:?}"))
    }
}

//! Affine maps of the plane. Coordinates are continuous: pixel (0, 0) covers 0 to 1 on both axes.
use super::view::refuse;
use crate::fault::Result;

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

//! Which way the passes over eight-bit values are computed: the widest that the machine has and the weights allow.
use super::quads::Quad;
use super::spans::Spans;
#[cfg(target_arch = "x86_64")]
use super::{avx2, vnni};
#[cfg(target_arch = "x86_64")]
use crate::geometry::dispatch;

/// A way to compute the passes. All give the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Path {
    /// Plain loops.
    Portable,
    /// Pairs of taps in 16 bits.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Four taps in 8 bits.
    #[cfg(target_arch = "x86_64")]
    Vnni,
}

impl Path {
    /// The path for the weights of `spans`.
    #[cfg(target_arch = "x86_64")]
    pub fn of(spans: &Spans<i32>) -> Self {
        let small = || spans.iter().all(|span| span.weights.iter().all(|weight| weight.abs() <= vnni::MAX_WEIGHT));
        if dispatch::has_vnni() && small() {
            Self::Vnni
        } else if dispatch::has_avx2() {
            Self::Avx2
        } else {
            Self::Portable
        }
    }

    /// The path for the weights of `spans`.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn of(_: &Spans<i32>) -> Self {
        Self::Portable
    }

    /// What cuts weights into the parts that this path multiplies.
    pub fn cut(self) -> fn(Quad) -> Quad {
        match self {
            Self::Portable => |weights| weights,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => avx2::cut,
            #[cfg(target_arch = "x86_64")]
            Self::Vnni => vnni::cut,
        }
    }
}

//! Selects the implementation of the 8-bit passes: the widest that the machine supports and the weights allow.
use super::spans::Spans;
use super::weight_groups::WeightGroup;
#[cfg(target_arch = "x86_64")]
use super::{avx2, vnni};
#[cfg(target_arch = "x86_64")]
use crate::geometry::dispatch;

/// An implementation of the passes. All give bit-identical results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Implementation {
    /// Portable loops.
    Portable,
    /// AVX2: multiplies and adds pairs of taps, with weights in parts of 16 bits.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 VNNI: multiplies and adds four taps, with weights in digits of 8 bits.
    #[cfg(target_arch = "x86_64")]
    Vnni,
}

impl Implementation {
    /// Selects the widest implementation of this machine that can represent the weights of `spans`.
    #[cfg(target_arch = "x86_64")]
    pub fn select(spans: &Spans<i32>) -> Self {
        let small = || spans.iter().all(|span| span.weights.iter().all(|weight| weight.abs() <= vnni::MAX_WEIGHT));
        if dispatch::has_vnni() && small() {
            Self::Vnni
        } else if dispatch::has_avx2() {
            Self::Avx2
        } else {
            Self::Portable
        }
    }

    /// Returns the portable implementation, the only one for this architecture.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn select(_: &Spans<i32>) -> Self {
        Self::Portable
    }

    /// Returns the function that splits weights into the parts that this implementation multiplies.
    pub fn weight_splitter(self) -> fn(WeightGroup) -> WeightGroup {
        match self {
            Self::Portable => |weights| weights,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => avx2::split_weights,
            #[cfg(target_arch = "x86_64")]
            Self::Vnni => vnni::split_weights,
        }
    }
}

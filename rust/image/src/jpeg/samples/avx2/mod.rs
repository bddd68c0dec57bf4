//! The kernel for x86-64 with AVX2.
mod color;
mod idct;

use super::color::PixelFormat;
use super::idct::{Block, Multipliers};
use super::kernel::{Job, Kernel};

/// Proof that this machine supports AVX2 and the bit manipulation instructions that accompany it. Only [`Avx2::detect`]
/// creates one.
#[derive(Debug, Clone, Copy)]
pub struct Avx2(());

impl Avx2 {
    /// Returns the kernel if this machine supports its instructions.
    pub fn detect() -> Option<Self> {
        let has = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("movbe")
            && is_x86_feature_detected!("popcnt");
        has.then_some(Self(()))
    }

    /// Runs `job` with these instructions enabled in everything that is inlined into it.
    pub fn run<J: Job>(self, job: J) -> J::Output {
        // SAFETY: a value of this type exists only if `detect` found all the features that `enter` enables.
        #[allow(unsafe_code)]
        unsafe {
            run_with_avx2(self, job)
        }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,movbe,popcnt")]
fn run_with_avx2<J: Job>(kernel: Avx2, job: J) -> J::Output {
    job.run(kernel)
}

/// Defines kernel methods that call AVX2 functions of this folder.
macro_rules! enter {
    ($($method:ident = $path:path, ($($name:ident: $kind:ty),*);)*) => {
        $(
            #[inline(always)]
            fn $method(self, $($name: $kind),*) {
                // SAFETY: `self` proves that the machine has AVX2, the only feature that these functions enable.
                #[allow(unsafe_code)]
                unsafe {
                    $path($($name),*)
                }
            }
        )*
    };
}

/// The compiler vectorizes the methods that are not overridden here: inlined into [`Avx2::run`], they use AVX2 too.
impl Kernel for Avx2 {
    enter! {
        idct_islow = idct::idct_islow, (block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize);
        idct_ifast = idct::idct_ifast, (block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize);
        idct_4x4 = idct::idct_4x4, (block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize);
        idct_2x2 = idct::idct_2x2, (block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize);
        ycc_to_rgb = color::ycc_to_rgb, (planes: [&[u8]; 3], order: PixelFormat, out: &mut [u8]);
        interleave = color::interleave, (planes: [&[u8]; 3], out: &mut [u8]);
    }
}

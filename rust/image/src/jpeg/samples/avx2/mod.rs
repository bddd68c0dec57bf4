//! The inner loops for x86-64 with AVX2.
mod color;
mod idct;

use super::color::PixelFormat;
use super::idct::{Block, Multipliers};
use super::kernel::{Job, Kernel};

/// Proof that this machine has AVX2 and the bit instructions that came with it. Only [`Avx2::detect`] makes one.
#[derive(Debug, Clone, Copy)]
pub struct Avx2(());

impl Avx2 {
    /// A value if this machine has what the kernel needs.
    pub fn detect() -> Option<Self> {
        let has = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("movbe")
            && is_x86_feature_detected!("popcnt");
        has.then_some(Self(()))
    }

    /// Runs `job` with these instructions enabled in all that is inlined into it.
    pub fn run<J: Job>(self, job: J) -> J::Output {
        // SAFETY: a value of this type exists only if `detect` found all the features that `enter` enables.
        #[allow(unsafe_code)]
        unsafe {
            enter(self, job)
        }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,movbe,popcnt")]
fn enter<J: Job>(kernel: Avx2, job: J) -> J::Output {
    job.run(kernel)
}

/// Methods of the trait that enter a function of this folder.
macro_rules! enter {
    ($($method:ident = $path:path, ($($name:ident: $kind:ty),*);)*) => {
        $(
            #[inline(always)]
            fn $method(self, $($name: $kind),*) {
                // SAFETY: `self` is proof that the machine has AVX2, which is all that these functions enable.
                #[allow(unsafe_code)]
                unsafe {
                    $path($($name),*)
                }
            }
        )*
    };
}

/// Methods that are missing here are simple enough for the compiler: inlined into [`Avx2::run`] they use AVX2 as well.
impl Kernel for Avx2 {
    enter! {
        islow = idct::islow, (block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize);
        ifast = idct::ifast, (block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize);
        half = idct::half, (block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize);
        quarter = idct::quarter, (block: &Block, last: usize, multipliers: &Multipliers, out: &mut [u8], stride: usize);
        ycc_to_rgb = color::ycc_to_rgb, (planes: [&[u8]; 3], order: PixelFormat, out: &mut [u8]);
        interleave = color::interleave, (planes: [&[u8]; 3], out: &mut [u8]);
    }
}

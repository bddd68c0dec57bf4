//! The inner loops for x86-64 with AVX2.
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

impl Kernel for Avx2 {}

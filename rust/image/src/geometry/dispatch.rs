//! Runs a kernel with the widest vectors of the machine. Kernels are plain loops without fused multiply-add, so every
//! path gives the same bits; wider instructions only give them sooner.

/// A piece of arithmetic over slices. `run` must be marked `#[inline(always)]` to be compiled for each target.
pub(crate) trait Kernel {
    /// What the kernel gives.
    type Output;
    /// Does the work.
    fn run(self) -> Self::Output;
}

/// Runs `kernel` compiled for AVX2 where the machine has it, else as compiled for the build's target.
pub(crate) fn run<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: `run_avx2` needs AVX2 alone, and `has_avx2` has just found it on this machine.
        #[allow(unsafe_code)]
        return unsafe { run_avx2(kernel) };
    }
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn run_avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

/// Whether AVX2 is there, and tests have not switched it off.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_avx2() -> bool {
    #[cfg(test)]
    if WIDEST.get() < Widest::Avx2 {
        return false;
    }
    is_x86_feature_detected!("avx2")
}

/// Whether the byte dot products of AVX-512 on 256 bits are there, and tests have not switched them off.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_vnni() -> bool {
    #[cfg(test)]
    if WIDEST.get() < Widest::Any {
        return false;
    }
    has_avx2() && is_x86_feature_detected!("avx512vnni") && is_x86_feature_detected!("avx512vl")
}

/// Whether AVX and F16C are there, and tests have not switched them off.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_f16c() -> bool {
    has_avx2() && is_x86_feature_detected!("f16c")
}

/// The widest instructions that may be used.
#[cfg(test)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Widest {
    /// Those of the build's target.
    Portable,
    /// Those of AVX2.
    Avx2,
    /// All that the machine has.
    Any,
}

#[cfg(test)]
thread_local! {
    static WIDEST: std::cell::Cell<Widest> = const { std::cell::Cell::new(Widest::Any) };
}

/// Runs `work` on this thread with no wider instructions than `widest`.
#[cfg(test)]
pub(crate) fn at_most<R>(widest: Widest, work: impl FnOnce() -> R) -> R {
    WIDEST.set(widest);
    let result = work();
    WIDEST.set(Widest::Any);
    result
}

/// Runs `work` on this thread without any wider instructions.
#[cfg(test)]
pub(crate) fn portably<R>(work: impl FnOnce() -> R) -> R {
    at_most(Widest::Portable, work)
}

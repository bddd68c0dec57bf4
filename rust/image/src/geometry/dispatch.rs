//! Runs a kernel with the widest vector instructions of the machine. Kernels are plain loops without fused
//! multiply-add, so every instruction set gives bit-identical results.

/// A computation over slices. Mark `run` with `#[inline(always)]`, so that it is compiled for each instruction set.
pub(crate) trait Kernel {
    /// Result of the computation.
    type Output;
    /// Runs the computation.
    fn run(self) -> Self::Output;
}

/// Runs `kernel` compiled for AVX2 if the machine supports it, otherwise as compiled for the target of the build.
pub(crate) fn run<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: `run_avx2` needs only AVX2, which `has_avx2` found on this machine.
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

/// Returns whether AVX2 is available and not disabled by a test.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_avx2() -> bool {
    #[cfg(test)]
    if WIDEST.get() < InstructionSet::Avx2 {
        return false;
    }
    is_x86_feature_detected!("avx2")
}

/// Returns whether the AVX-512 VNNI instructions on 256-bit vectors are available and not disabled by a test.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_vnni() -> bool {
    #[cfg(test)]
    if WIDEST.get() < InstructionSet::Any {
        return false;
    }
    has_avx2() && is_x86_feature_detected!("avx512vnni") && is_x86_feature_detected!("avx512vl")
}

/// Returns whether AVX2 and F16C are available and not disabled by a test.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_f16c() -> bool {
    has_avx2() && is_x86_feature_detected!("f16c")
}

/// The widest instruction set that a test allows.
#[cfg(test)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum InstructionSet {
    /// The target of the build.
    Portable,
    /// AVX2.
    Avx2,
    /// Everything that the machine supports.
    Any,
}

#[cfg(test)]
thread_local! {
    static WIDEST: std::cell::Cell<InstructionSet> = const { std::cell::Cell::new(InstructionSet::Any) };
}

/// Runs `work` on this thread with no wider instructions than `widest`.
#[cfg(test)]
pub(crate) fn run_with_widest<R>(widest: InstructionSet, work: impl FnOnce() -> R) -> R {
    WIDEST.set(widest);
    let result = work();
    WIDEST.set(InstructionSet::Any);
    result
}

/// Runs `work` on this thread with the instructions of the build target only.
#[cfg(test)]
pub(crate) fn run_portable<R>(work: impl FnOnce() -> R) -> R {
    run_with_widest(InstructionSet::Portable, work)
}

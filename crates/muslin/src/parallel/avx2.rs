//! Instructions that not every processor has.
#![allow(unsafe_code, reason = "enters code for AVX2, where the processor was seen to have it")]

/// The proof that the processor has AVX2. Every thread of a process has the same instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// Asks the processor.
    #[inline]
    pub(crate) fn detect() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        return std::arch::is_x86_feature_detected!("avx2").then_some(Self(()));
        #[cfg(not(target_arch = "x86_64"))]
        return None;
    }

    /// Runs what is inlined into it with these instructions; a closure is, if it has the attribute `#[inline(always)]`.
    #[inline(always)]
    pub(crate) fn run<T>(self, work: impl FnOnce() -> T) -> T {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor has AVX2, since there is a proof of it.
        return unsafe { with_avx2(work) };
        #[cfg(not(target_arch = "x86_64"))]
        return work();
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2<T>(work: impl FnOnce() -> T) -> T {
    work()
}

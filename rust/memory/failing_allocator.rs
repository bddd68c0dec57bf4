//! A global allocator for tests. It fails the n-th allocation of a thread, for every n in turn; small allocations never
//! fail.
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::{Debug, Display};

/// Selection of the allocations of this thread that fail.
#[derive(Clone, Copy)]
struct FailurePlan {
    /// Allocations of fewer bytes never fail and are not counted.
    threshold: usize,
    /// Number of allocations so far.
    count: usize,
    /// Number of the first allocation that fails, and of the first one after it that succeeds again.
    failing: (usize, usize),
}

thread_local! {
    static PLAN: Cell<FailurePlan> = const { Cell::new(FailurePlan { threshold: usize::MAX, count: 0, failing: (0, 0) }) };
}

struct FailingAllocator;

fn must_fail(num_bytes: usize) -> bool {
    let mut plan = PLAN.get();
    if num_bytes < plan.threshold {
        return false;
    }
    let number = plan.count;
    plan.count += 1;
    PLAN.set(plan);
    (plan.failing.0..plan.failing.1).contains(&number)
}

// SAFETY: all calls are passed to the system's allocator, or return null, which means that there is no memory.
unsafe impl GlobalAlloc for FailingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's layout is valid.
        if must_fail(layout.size()) { std::ptr::null_mut() } else { unsafe { System.alloc(layout) } }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's layout is valid.
        if must_fail(layout.size()) { std::ptr::null_mut() } else { unsafe { System.alloc_zeroed(layout) } }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from the system's allocator, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the pointer came from the system's allocator, with this layout.
        if must_fail(new_size) { std::ptr::null_mut() } else { unsafe { System.realloc(pointer, layout, new_size) } }
    }
}

#[global_allocator]
static ALLOCATOR: FailingAllocator = FailingAllocator;

/// Runs an operation with some failing allocations; returns its result and the number of its allocations.
pub fn run_failing<T>(threshold: usize, failing: (usize, usize), operation: impl FnOnce() -> T) -> (T, usize) {
    let before = PLAN.replace(FailurePlan { threshold, count: 0, failing });
    let result = operation();
    (result, PLAN.replace(before).count)
}

/// Fails every allocation of `operation` in turn, alone and together with all later ones. The operation must return an
/// error that `is_out_of_memory` accepts, or its usual result.
pub fn fail_each_allocation<T: PartialEq + Debug, E: Display>(
    name: &str,
    threshold: usize,
    is_out_of_memory: impl Fn(&E) -> bool,
    operation: impl Fn() -> Result<T, E>,
) {
    let (expected, count) = run_failing(threshold, (0, 0), &operation);
    let expected = expected.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(count > 0, "{name} allocates nothing");
    let mut num_errors = 0;
    for first in 0..count {
        for end in [first + 1, usize::MAX] {
            match run_failing(threshold, (first, end), &operation).0 {
                Ok(found) => assert!(found == expected, "{name}: wrong result after failure {first}"),
                Err(error) if is_out_of_memory(&error) => num_errors += 1,
                Err(error) => panic!("{name}: failure {first} gives {error}"),
            }
        }
    }
    assert!(num_errors > 0, "{name} never returns an error");
    assert!(operation().is_ok_and(|found| found == expected), "{name}: wrong result after the failures");
    println!("{name}: {} failures, {num_errors} errors", 2 * count);
}

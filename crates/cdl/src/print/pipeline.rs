//! Ordered parallel pipeline.
//!
//! Each worker takes the next number, makes its item and puts it into its slot; the caller's thread takes the slots in
//! order. The number of slots bounds the memory. There is no thread pool: the threads live as long as the work on one
//! large header or variable, and small ones start no threads.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

struct State<T> {
    next: u64,
    taken: u64,
    stop: bool,
    slots: Vec<Option<T>>,
}

/// Guard that stops all threads if a worker panics.
struct StopOnPanic<'a, T>(&'a Mutex<State<T>>, &'a Condvar);

impl<T> Drop for StopOnPanic<'_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            lock(self.0).stop = true;
            self.1.notify_all();
        }
    }
}

fn lock<T>(state: &Mutex<T>) -> MutexGuard<'_, T> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes the items 0 to `count` (exclusive) on `threads` threads, and passes them to `take` in order on this thread,
/// until it fails. At most `2 * threads + 2` items exist at a time.
pub(super) fn in_order<T: Send, E>(
    count: u64,
    threads: usize,
    make: impl Fn(u64) -> T + Sync,
    mut take: impl FnMut(u64, T) -> Result<(), E>,
) -> Result<(), E> {
    let threads = threads.min(usize::try_from(count).unwrap_or(usize::MAX));
    if threads <= 1 {
        return (0..count).try_for_each(|number| take(number, make(number)));
    }
    let window = 2 * threads + 2;
    let slots = (0..window).map(|_| None).collect();
    let state = Mutex::new(State { next: 0, taken: 0, stop: false, slots });
    let changed = Condvar::new();
    let wait = |guard| changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
    let work = || {
        let _stop = StopOnPanic(&state, &changed);
        loop {
            let mut guard = lock(&state);
            while !guard.stop && guard.next < count && guard.next >= guard.taken + window as u64 {
                guard = wait(guard);
            }
            if guard.stop || guard.next == count {
                return;
            }
            let number = guard.next;
            guard.next += 1;
            drop(guard);
            let thing = make(number);
            lock(&state).slots[(number % window as u64) as usize] = Some(thing);
            changed.notify_all();
        }
    };
    std::thread::scope(|scope| {
        let _stop = StopOnPanic(&state, &changed);
        let start = |_: &usize| std::thread::Builder::new().spawn_scoped(scope, work).is_ok();
        // If the system starts fewer threads, fewer do the work; if none, this thread does it.
        if (0..threads).take_while(start).count() == 0 {
            return (0..count).try_for_each(|number| take(number, make(number)));
        }
        for number in 0..count {
            let mut guard = lock(&state);
            let thing = loop {
                if let Some(thing) = guard.slots[(number % window as u64) as usize].take() {
                    break thing;
                }
                if guard.stop {
                    return Ok(()); // a worker panicked; leaving the scope passes that on
                }
                guard = wait(guard);
            };
            guard.taken = number + 1;
            drop(guard);
            changed.notify_all();
            if let Err(error) = take(number, thing) {
                lock(&state).stop = true;
                changed.notify_all();
                return Err(error);
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn in_order_and_bounded() {
        let (made, taken) = (AtomicU64::new(0), AtomicU64::new(0));
        let mut seen = vec![];
        let make = |number| {
            let ahead = made.fetch_add(1, Ordering::SeqCst) + 1 - taken.load(Ordering::SeqCst);
            assert!(ahead <= 8 + 1, "{ahead} things at a time");
            std::thread::sleep(std::time::Duration::from_micros(number * 7919 % 100));
            number * 2
        };
        let take = |number, thing| {
            taken.fetch_add(1, Ordering::SeqCst);
            seen.push((number, thing));
            Ok::<_, ()>(())
        };
        in_order(500, 3, make, take).unwrap();
        assert_eq!(seen, (0..500).map(|number| (number, number * 2)).collect::<Vec<_>>());
    }

    #[test]
    fn a_failure_stops_it() {
        for threads in [1, 4] {
            let take = |number, ()| if number == 5 { Err(number) } else { Ok(()) };
            assert_eq!(in_order(u64::MAX, threads, |_| (), take), Err(5));
        }
    }

    #[test]
    #[should_panic]
    fn a_panic_in_a_worker_is_passed_on() {
        let make = |number| assert!(number != 10);
        in_order(100, 2, make, |_, ()| Ok::<_, ()>(())).unwrap();
    }
}

//! How many threads of a team to use, found by trying.
//!
//! Threads that meet at barriers are as slow as the slowest of them. When other programs need the cores, a thread that
//! is put aside holds up all others, and fewer threads, or one alone, are faster. Nothing but the time depends on the
//! number (the bits do not), so it may change from frame to frame: now and then one frame runs with another number, and
//! the faster one is kept.

/// Chooses the number of threads for each frame.
pub(crate) struct Pace {
    /// Candidates, from all threads down to one, each with the seconds of a sweep in recent frames.
    choices: Vec<(usize, Option<f64>)>,
    current: usize,
    /// The candidate that the running frame tries, if any.
    trial: Option<usize>,
    /// Which neighbour is tried next: down or up.
    downwards: bool,
    frames_to_trial: u32,
    interval: u32,
}

/// Frames between trials at first, and after a change.
const SHORT_INTERVAL: u32 = 8;
/// And once trials have confirmed the choice often: a trial then costs less than a percent.
const LONG_INTERVAL: u32 = 256;
/// A trial must be this much faster to be believed: frames vary by themselves.
const GAIN: f64 = 0.85;
/// A frame that is this much slower than those before calls for a trial at once.
const LOSS: f64 = 2.0;

impl Pace {
    /// For a team of `size`.
    pub(crate) fn new(size: usize) -> Self {
        let halves = std::iter::successors(Some(size.max(1)), |&n| (n > 1).then_some(n / 2));
        Self {
            choices: halves.map(|n| (n, None)).collect(),
            current: 0,
            trial: None,
            downwards: true,
            // At once: on a busy machine the first frames could take seconds.
            frames_to_trial: 1,
            interval: SHORT_INTERVAL,
        }
    }

    /// Threads for the next frame.
    pub(crate) fn threads(&mut self) -> usize {
        self.trial = None;
        if self.frames_to_trial > 0 {
            self.frames_to_trial -= 1;
        } else {
            self.trial = self.next_trial();
        }
        self.choices[self.trial.unwrap_or(self.current)].0
    }

    /// One thread alone first, which tells most; then the neighbours of the current choice in turn.
    fn next_trial(&mut self) -> Option<usize> {
        let last = self.choices.len() - 1;
        if self.choices[last].1.is_none() {
            return (last != self.current).then_some(last);
        }
        self.downwards = !self.downwards;
        let goes_down = self.current == 0 || (self.downwards && self.current < last);
        let other = if goes_down { self.current + 1 } else { self.current - 1 };
        (other <= last).then_some(other)
    }

    /// Takes note of how long a sweep of that frame took, in s.
    pub(crate) fn record(&mut self, seconds: f64) {
        let Some(trial) = self.trial else {
            let known = &mut self.choices[self.current].1;
            if known.is_some_and(|average| seconds > LOSS * average) {
                self.frames_to_trial = 0;
            }
            *known = Some(known.map_or(seconds, |average| 0.75 * average + 0.25 * seconds));
            return;
        };
        self.choices[trial].1 = Some(seconds);
        let faster = self.choices[self.current].1.is_some_and(|average| seconds < GAIN * average);
        if faster {
            self.current = trial;
        }
        self.interval = if faster { SHORT_INTERVAL } else { (2 * self.interval).min(LONG_INTERVAL) };
        self.frames_to_trial = self.interval;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs frames whose time depends on the number of threads; returns the numbers used.
    fn frames(pace: &mut Pace, count: usize, seconds: impl Fn(usize) -> f64) -> Vec<usize> {
        (0..count)
            .map(|_| {
                let threads = pace.threads();
                pace.record(seconds(threads));
                threads
            })
            .collect()
    }

    #[test]
    fn an_idle_machine_keeps_all_threads_but_for_rare_trials() {
        let used = frames(&mut Pace::new(2), 1000, |threads| 1.0 / threads as f64);
        assert!(used.iter().filter(|&&n| n == 1).count() < 12, "too many trials");
        assert_eq!(used.last(), Some(&2));
    }

    #[test]
    fn a_busy_machine_gets_fewer_threads_and_an_idle_one_gets_them_back() {
        let mut pace = Pace::new(8);
        let used = frames(&mut pace, 200, |threads| threads as f64);
        assert_eq!(used.last(), Some(&1));
        let used = frames(&mut pace, 2000, |threads| 1.0 / threads as f64);
        assert_eq!(used.last(), Some(&8));
    }

    #[test]
    fn a_sudden_load_is_answered_at_once() {
        let mut pace = Pace::new(2);
        frames(&mut pace, 1000, |threads| 1.0 / threads as f64);
        let used = frames(&mut pace, 4, |threads| if threads == 2 { 50.0 } else { 2.0 });
        assert_eq!(used, [2, 1, 1, 1]);
    }

    #[test]
    fn a_team_of_one_has_no_choice() {
        assert_eq!(frames(&mut Pace::new(1), 20, |_| 1.0), vec![1; 20]);
    }
}

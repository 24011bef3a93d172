//! Thread tuner: finds by trying how many threads of a team a frame should use.
//!
//! Threads that meet at barriers are as slow as the slowest of them. When other programs need the cores, a thread that
//! is put aside holds up all others, and fewer threads, or one alone, are faster. Nothing but the time depends on the
//! number (the bits do not), so it may change from frame to frame: now and then some run with another number, and
//! the faster one is kept.
//!
//! The first frame of a run makes what all others need, and the first with another number of threads has to fetch what it needs from the caches of the
//! other cores: neither says how fast that number is, so only a frame counts that follows one of its own kind.

/// Chooses the number of threads for each frame.
pub(crate) struct ThreadTuner {
    /// Candidates, from all threads down to one, each with the seconds of a sweep in recent frames.
    choices: Vec<(usize, Option<f64>)>,
    current: usize,
    /// The candidate that the running frame tries, if any, with how many frames of it have counted and their seconds of a sweep.
    trial: Option<(usize, u32, f64)>,
    /// Threads of the frame before.
    last: Option<usize>,
    /// Which neighbour is tried next: down or up.
    downwards: bool,
    frames_to_trial: u32,
    interval: u32,
}

/// Frames between trials at first, and after a change.
const SHORT_INTERVAL: u32 = 8;
/// And once trials have confirmed the choice often: a trial then costs less than a percent.
const LONG_INTERVAL: u32 = 512;
/// Frames of a trial that count.
const TRIAL: u32 = 3;
/// A trial must be this much faster to be believed: frames vary by themselves.
const GAIN: f64 = 0.93;
/// A frame that is this much slower than those before calls for a trial at once, and ends one.
const LOSS: f64 = 2.0;

impl ThreadTuner {
    /// For a team of `size`.
    pub(crate) fn new(size: usize) -> Self {
        let halves = std::iter::successors(Some(size.max(1)), |&n| (n > 1).then_some(n / 2));
        Self {
            choices: halves.map(|n| (n, None)).collect(),
            current: 0,
            trial: None,
            last: None,
            downwards: true,
            // Soon: on a busy machine the first frames could take seconds.
            frames_to_trial: 2,
            interval: SHORT_INTERVAL,
        }
    }

    /// Threads for the next frame.
    pub(crate) fn threads(&mut self) -> usize {
        if self.trial.is_some() {
            // Not known yet.
        } else if self.frames_to_trial > 0 {
            self.frames_to_trial -= 1;
        } else {
            self.trial = self.next_trial().map(|choice| (choice, 0, 0.0));
        }
        self.chosen()
    }

    /// Threads that were the fastest so far.
    pub(crate) fn fastest(&self) -> usize {
        self.choices[self.current].0
    }

    /// Threads of the running frame.
    fn chosen(&self) -> usize {
        self.choices[self.trial.map_or(self.current, |(choice, ..)| choice)].0
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
        let threads = self.chosen();
        if self.last.replace(threads) != Some(threads) {
            return;
        }
        let average = self.choices[self.current].1;
        let is_slow = average.is_some_and(|average| seconds > LOSS * average);
        let Some((trial, count, sum)) = self.trial else {
            if is_slow {
                self.frames_to_trial = 0;
            }
            self.choices[self.current].1 = Some(average.map_or(seconds, |average| 0.75 * average + 0.25 * seconds));
            return;
        };
        if count + 1 < TRIAL && !is_slow {
            self.trial = Some((trial, count + 1, sum + seconds));
            return;
        }
        self.trial = None;
        let mean = (sum + seconds) / f64::from(count + 1);
        self.choices[trial].1 = Some(mean);
        let faster = !is_slow && average.is_some_and(|average| mean < GAIN * average);
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
    fn frames(tuner: &mut ThreadTuner, count: usize, seconds: impl Fn(usize) -> f64) -> Vec<usize> {
        (0..count)
            .map(|_| {
                let threads = tuner.threads();
                tuner.record(seconds(threads));
                threads
            })
            .collect()
    }

    #[test]
    fn an_idle_machine_keeps_all_threads_but_for_rare_trials() {
        let used = frames(&mut ThreadTuner::new(2), 1000, |threads| 1.0 / threads as f64);
        assert!(used.iter().filter(|&&n| n == 1).count() < 30, "too many trials");
        assert_eq!(used.last(), Some(&2));
    }

    #[test]
    fn a_busy_machine_gets_fewer_threads_and_an_idle_one_gets_them_back() {
        let mut tuner = ThreadTuner::new(8);
        let used = frames(&mut tuner, 200, |threads| threads as f64);
        assert_eq!(used.last(), Some(&1));
        let used = frames(&mut tuner, 2000, |threads| 1.0 / threads as f64);
        assert_eq!(used.last(), Some(&8));
    }

    #[test]
    fn first_frames_do_not_count() {
        // The first of a run takes ten times as long, and the first with another number twice as long.
        let (mut tuner, mut last) = (ThreadTuner::new(2), 0);
        let used: Vec<usize> = (0..200)
            .map(|frame| {
                let threads = tuner.threads();
                let slower = if frame == 0 {
                    10.0
                } else if threads == last {
                    1.0
                } else {
                    2.0
                };
                tuner.record(slower / f64::sqrt(threads as f64));
                last = threads;
                threads
            })
            .collect();
        assert_eq!(used[..8], [2, 2, 1, 1, 1, 1, 2, 2], "one of each kind does not count");
        assert_eq!(used.last(), Some(&2));
    }

    #[test]
    fn a_sudden_load_is_answered_at_once() {
        let mut tuner = ThreadTuner::new(2);
        frames(&mut tuner, 1000, |threads| 1.0 / threads as f64);
        let used = frames(&mut tuner, 4, |threads| if threads == 2 { 50.0 } else { 2.0 });
        assert_eq!(used, [2, 1, 1, 1]);
    }

    #[test]
    fn a_trial_that_is_much_slower_ends_at_once() {
        let mut tuner = ThreadTuner::new(2);
        // Another program has a core.
        let used = frames(&mut tuner, 300, |threads| if threads == 2 { 4.0 } else { 1.0 });
        let trials = used.chunk_by(|a, b| a == b).skip(1).filter(|run| run[0] == 2);
        assert!(trials.clone().count() >= 3, "it is tried again");
        assert!(trials.clone().all(|run| run.len() == 2), "the first does not count, the second is enough");
    }

    #[test]
    fn a_team_of_one_has_no_choice() {
        assert_eq!(frames(&mut ThreadTuner::new(1), 20, |_| 1.0), vec![1; 20]);
    }
}

//! How far a run is: a bar on a terminal, a line now and then elsewhere, or nothing.

use std::fmt;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::report::Frame;
use crate::console::note;
use crate::words::percent;

/// Between two lines where there is no terminal: a log should stay readable.
const LINE_EVERY: Duration = Duration::from_secs(2);

/// Shows how far a run is.
#[derive(Debug)]
pub(crate) struct Progress {
    name: String,
    started: Instant,
    first: usize,
    frame_count: usize,
    display: Display,
}

#[derive(Debug)]
enum Display {
    Silent,
    Bar(ProgressBar),
    Lines { last: Instant },
    Told(Listener),
}

/// Is told the frame that is done and how many there are to be.
struct Listener(Box<dyn FnMut(usize, usize) + Send>);

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}

impl Progress {
    /// For a run that goes from frame `first` to `frame_count`.
    pub(crate) fn new(name: &str, first: usize, frame_count: usize, silent: bool) -> Self {
        let display = match silent {
            true => Display::Silent,
            false if std::io::stderr().is_terminal() => Display::Bar(bar(first, frame_count)),
            false => Display::Lines { last: Instant::now() },
        };
        Self { name: name.to_owned(), started: Instant::now(), first, frame_count, display }
    }

    /// For a program that wants to know, and shows it itself.
    pub(crate) fn told(
        name: &str,
        first: usize,
        frame_count: usize,
        told: Box<dyn FnMut(usize, usize) + Send>,
    ) -> Self {
        Self { display: Display::Told(Listener(told)), ..Self::new(name, first, frame_count, true) }
    }

    /// A frame is done.
    pub(crate) fn frame(&mut self, frame: &Frame) {
        if let Display::Told(Listener(told)) = &mut self.display {
            told(frame.frame, self.frame_count);
        }
        if let Display::Bar(bar) = &self.display {
            bar.set_position(frame.frame as u64);
        }
        if self.is_due() {
            let words = self.words(frame);
            self.show(words, &format!("frame {} of {}, ", frame.frame, self.frame_count));
        }
    }

    /// Something to know at once.
    pub(crate) fn warn(&self, words: &str) {
        match &self.display {
            Display::Silent | Display::Told(_) => {}
            Display::Bar(bar) => bar.suspend(|| note(format_args!("{}: warning: {words}", self.name))),
            Display::Lines { .. } => note(format_args!("{}: warning: {words}", self.name)),
        }
    }

    /// What comes after the frames: `writing sheet.glb`.
    pub(crate) fn stage(&mut self, words: &str) {
        if self.is_due() {
            self.show(words.to_owned(), "");
        }
    }

    fn is_due(&self) -> bool {
        match &self.display {
            Display::Silent | Display::Told(_) => false,
            Display::Bar(_) => true, // it draws at its own pace
            Display::Lines { last } => last.elapsed() >= LINE_EVERY,
        }
    }

    /// Shows words; a line also says `before` them what the bar draws.
    fn show(&mut self, words: String, before: &str) {
        match &mut self.display {
            Display::Silent | Display::Told(_) => {}
            Display::Bar(bar) => bar.set_message(words),
            Display::Lines { last } => {
                *last = Instant::now();
                note(format_args!("{}: {before}{words}", self.name));
            }
        }
    }

    /// Clears the bar: what is said next stands by itself.
    pub(crate) fn finish(&self) {
        if let Display::Bar(bar) = &self.display {
            bar.finish_and_clear();
        }
    }

    /// `1.02 s, 95 frames/s, strain 1.2 %, 2 s left`.
    fn words(&self, frame: &Frame) -> String {
        let elapsed = self.started.elapsed().as_secs_f64();
        let rate = (frame.frame - self.first) as f64 / elapsed.max(1e-9);
        let left = self.frame_count.saturating_sub(frame.frame) as f64 / rate.max(1e-9);
        let strain = percent(frame.max_strain, 1);
        format!("{:.2} s, {}, strain {strain}, {} left", frame.time, rate_in_words(rate), time_in_words(left))
    }
}

fn bar(first: usize, frame_count: usize) -> ProgressBar {
    let style =
        ProgressStyle::with_template("  {bar:24} {pos}/{len}  {wide_msg}").unwrap_or(ProgressStyle::default_bar());
    let bar = ProgressBar::new(frame_count as u64).with_style(style);
    bar.set_position(first as u64);
    bar
}

fn rate_in_words(rate: f64) -> String {
    if rate >= 10.0 { format!("{rate:.0} frames/s") } else { format!("{rate:.2} frames/s") }
}

/// `2.1 s`, `12 s`, `3 min 5 s`, `2 h 10 min`.
pub(crate) fn time_in_words(seconds: f64) -> String {
    if seconds < 9.95 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds.round() as u64;
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, min, s) => format!("{min} min {s} s"),
        (h, min, _) => format!("{h} h {min} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_words() {
        for (seconds, words) in
            [(0.44, "0.4 s"), (9.96, "10 s"), (59.6, "1 min 0 s"), (185.0, "3 min 5 s"), (7800.0, "2 h 10 min")]
        {
            assert_eq!(time_in_words(seconds), words);
        }
        assert!(time_in_words(f64::INFINITY).ends_with("min"), "no panic");
    }
}

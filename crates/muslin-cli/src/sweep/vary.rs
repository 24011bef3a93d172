//! What a sweep varies: a key of the scene, and the value that each sample gives it.
//!
//! A value depends on the seed, the number of the sample and the key, and on nothing else: samples can be computed in any order, by anybody,
//! and a sweep that is taken up again goes on with the same values.

use muslin::scene::Override;
use muslin::state::fnv1a;
use serde_json::{Value, json};

/// A key of the scene, with its values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Vary {
    pub(crate) key: String,
    pub(crate) values: Values,
}

/// Where the values of a key come from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Values {
    /// At random between two numbers, both included.
    Range(Range),
    /// As they were given, one a sample, in TOML.
    Given(Vec<String>),
}

/// Numbers between two others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Evenly spread logarithms instead of evenly spread numbers.
    pub(crate) log: bool,
    /// Whole numbers only.
    pub(crate) whole: bool,
}

impl Vary {
    /// Reads `KEY=LOW:HIGH` or `KEY=LOW:HIGH:log`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| {
            format!(
                "{text:?} {why}: write KEY=LOW:HIGH or KEY=LOW:HIGH:log, for example cloth.0.material.density=0.1:0.3"
            )
        };
        let (key, range) = text.split_once('=').ok_or_else(|| wrong("has no range"))?;
        let mut parts = range.split(':').map(str::trim);
        let number = |part: Option<&str>| part.and_then(|part| part.parse::<f64>().ok());
        let (Some(low), Some(high)) = (number(parts.next()), number(parts.next())) else {
            return Err(wrong("has no two numbers"));
        };
        let log = match (parts.next(), parts.next()) {
            (None, _) | (Some("linear"), None) => false,
            (Some("log"), None) => true,
            _ => return Err(wrong("has something else behind its two numbers")),
        };
        Self::range(key.trim(), low, high, log)
    }

    /// A key between two numbers.
    pub(crate) fn range(key: &str, low: f64, high: f64, log: bool) -> Result<Self, String> {
        if !(low.is_finite() && high.is_finite() && low <= high) {
            return Err(format!("{key}: {low}:{high} is not a range; give two finite numbers, the lower one first"));
        }
        if log && low <= 0.0 {
            return Err(format!("{key}: {low}:{high}:log needs numbers above 0; leave `:log` away, or raise {low}"));
        }
        Self::of(key, Values::Range(Range { low, high, log, whole: false }))
    }

    /// A key with a value a sample, in TOML.
    pub(crate) fn given(key: &str, values: Vec<String>) -> Result<Self, String> {
        Self::of(key, Values::Given(values))
    }

    fn of(key: &str, values: Values) -> Result<Self, String> {
        Override::parse(&format!("{key}=0"))?;
        Ok(Self { key: key.to_owned(), values })
    }

    /// The value of a sample, in TOML.
    pub(crate) fn value(&self, seed: u64, sample: u64) -> String {
        match &self.values {
            Values::Range(range) => range.at(uniform(seed, sample, &self.key)),
            Values::Given(values) => {
                usize::try_from(sample).ok().and_then(|i| values.get(i)).cloned().unwrap_or_default()
            }
        }
    }

    /// What of it decides about the samples.
    pub(crate) fn to_json(&self) -> Value {
        match &self.values {
            Values::Range(Range { low, high, log, whole }) => {
                json!({ "key": self.key, "low": low, "high": high, "log": log, "whole": whole })
            }
            Values::Given(values) => {
                let bytes = values.iter().flat_map(|value| value.bytes().chain([0]));
                json!({ "key": self.key, "values": values.len(), "hash": format!("{:016x}", fnv1a(bytes)) })
            }
        }
    }
}

impl Range {
    /// The number at a part of the way, from 0 up to 1, in TOML.
    pub(crate) fn at(&self, part: f64) -> String {
        let Self { low, high, log, whole } = *self;
        // The ends of a range of whole numbers are worth as much as those between.
        let (low, high) = if whole { (low.ceil() - 0.5, high.floor() + 0.5) } else { (low, high) };
        let number = match log {
            true => low * libm::exp(part * libm::log(high / low)),
            false => low + part * (high - low),
        };
        match whole {
            true => format!("{}", number.round().clamp(self.low.ceil(), self.high.floor())),
            false => format!("{:?}", number.clamp(low, high)),
        }
    }
}

/// A number from 0 up to 1, with 53 random bits: FNV-1a of what it is for, mixed as `SplitMix64` does [Steele, Lea, Flood 2014], since the high bits of
/// FNV-1a hardly depend on the last bytes.
fn uniform(seed: u64, sample: u64, key: &str) -> f64 {
    let bytes = seed.to_le_bytes().into_iter().chain(sample.to_le_bytes()).chain(key.bytes());
    let mut bits = fnv1a(bytes);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^= bits >> 31;
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str) -> Range {
        match Vary::parse(text).expect(text).values {
            Values::Range(range) => range,
            Values::Given(_) => unreachable!("{text}"),
        }
    }

    #[test]
    fn ranges_are_read() {
        assert_eq!(range("a.0.b=1:2"), Range { low: 1.0, high: 2.0, log: false, whole: false });
        assert_eq!(range("a = 1e-6 : 1e-4 : log"), Range { low: 1e-6, high: 1e-4, log: true, whole: false });
        for (text, why) in [
            ("a", "has no range"),
            ("a=1", "has no two numbers"),
            ("a=x:2", "has no two numbers"),
            ("a=1:2:cubic", "has something else"),
            ("a=2:1", "is not a range"),
            ("a=0:nan", "is not a range"),
            ("a=0:1:log", "needs numbers above 0"),
            ("a b=0:1", "is not the path of a scene key"),
        ] {
            let said = Vary::parse(text).expect_err(text);
            assert!(said.contains(why), "{text}: {said}");
        }
    }

    #[test]
    fn numbers_fill_their_range_evenly() {
        const SAMPLES: u64 = 20_000;
        let mut counts = [0_u32; 10];
        (0..SAMPLES).for_each(|sample| counts[(10.0 * uniform(1, sample, "fps")) as usize] += 1);
        // 2000 a tenth, with a standard deviation of √(20000 · 0.1 · 0.9) = 42.
        assert!(counts.iter().all(|count| count.abs_diff(2000) < 5 * 42), "{counts:?}");
        // Two keys, and two seeds, have nothing to do with each other: the mean of the product of independent numbers is a quarter.
        for (seed, key) in [(1, "scale"), (2, "fps")] {
            let product = |sample| uniform(1, sample, "fps") * uniform(seed, sample, key);
            let mean = (0..SAMPLES).map(product).sum::<f64>() / SAMPLES as f64;
            // Its standard deviation is √(7/144 / 20000) = 0.0016.
            assert!((mean - 0.25).abs() < 5.0 * 0.0016, "{key} and seed {seed}: {mean}");
        }
    }

    #[test]
    fn values_are_within_their_range_and_toml() {
        let log = Range { low: 1e-6, high: 1e-4, log: true, whole: false };
        assert_eq!((log.at(0.0).as_str(), log.at(1.0).as_str()), ("1e-6", "0.0001"));
        let middle: f64 = log.at(0.5).parse().expect("a number");
        assert!((middle / 1e-5 - 1.0).abs() < 1e-12, "{middle}");
        let whole = Range { low: 1.2, high: 4.0, log: false, whole: true };
        let all: Vec<String> = (0..9).map(|i| whole.at(f64::from(i) / 9.0)).collect();
        assert_eq!(all, ["2", "2", "2", "3", "3", "3", "4", "4", "4"]);
        let whole = Range { low: 1.0, high: 64.0, log: true, whole: true };
        assert_eq!((whole.at(0.0).as_str(), whole.at(0.999_999).as_str()), ("1", "64"));
    }
}

//! The drape test.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use muslin_lab::{LabError, Sample, cusick};

use crate::sample;

#[test]
fn fabrics_drape_in_the_order_in_which_they_were_measured() {
    let drape = |fabric: &str| {
        let done = cusick(&sample(fabric, "explicit", "spring", 0.01), &mut |_| {}).expect("a drape");
        assert!(done.rest.is_reached, "{fabric}: {:?}", done.rest);
        let carried = done.rest.carried.expect("it weighs");
        assert!((carried - 1.0).abs() < 0.05, "{fabric}: the disc carries {carried} of the weight");
        assert!((3..=9).contains(&done.folds.number), "{fabric}: {} folds", done.folds.number);
        assert!(done.strain < 0.02, "{fabric}: a strain of {}", done.strain);
        done.coefficient
    };
    let [faille, wool, cotton] = ["faille", "wool", "cotton"].map(drape);
    assert!(faille < wool && wool < cotton, "{faille} % of faille, {wool} % of wool, {cotton} % of cotton");
    // Within what a mesh of 10 mm may be off: the softest locks most.
    for (simulated, measured) in [(faille, 28.3), (wool, 49.8)] {
        assert!(f64::abs(simulated - measured) < 12.0, "{simulated} % of {measured} %");
    }
}

#[test]
fn a_drape_can_be_stopped_and_is_told_about() {
    let asked = Arc::new(AtomicUsize::new(0));
    let asks = Arc::clone(&asked);
    let mut heard = Vec::new();
    let stopped = Sample {
        stop: Some(Arc::new(move || asks.fetch_add(1, Ordering::Relaxed) > 20_000)),
        ..sample("wool", "explicit", "spring", 0.02)
    };
    let outcome = cusick(&stopped, &mut |progress| heard.push(progress));
    assert!(outcome == Err(LabError::Stopped), "asked {} times: {outcome:?}", asked.load(Ordering::Relaxed));
    assert!(heard.iter().all(|progress| (0.0..=1.0).contains(&progress.share)), "{heard:?}");
}

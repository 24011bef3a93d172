//! Cantilever, tension and shear.

use muslin_lab::tensile::Direction;
use muslin_lab::{cantilever, shear, tensile};

use crate::sample;

#[test]
fn a_cantilever_shows_the_rigidity_that_was_put_in() {
    let show = |solver: &str| {
        let done = cantilever(&sample("cotton", solver, "spring", 5e-3), &mut |_| {}).expect("a cantilever");
        assert!(done.error().abs() < 0.05, "{solver}: B is off by {:.1} %", 100.0 * done.error());
        assert!((done.angle.to_degrees() - 41.5).abs() < 0.2, "{solver}: {}°", done.angle.to_degrees());
        let carried = done.rest.carried.expect("it weighs");
        assert!(done.rest.is_reached && (carried - 1.0).abs() < 0.01, "{solver}: {:?}", done.rest);
        (done.rigidity, done.rest.residual.expect("it weighs"))
    };
    let [(explicit, _), (newton, residual)] = ["explicit", "newton"].map(show);
    assert!((explicit / newton - 1.0).abs() < 0.01, "{explicit} and {newton} N·m");
    assert!(residual < 0.01, "newton leaves {residual} weights of a vertex");
}

#[test]
fn a_strip_that_does_not_fit_the_mesh_or_the_test_is_refused() {
    let coarse = cantilever(&sample("faille", "explicit", "spring", 0.02), &mut |_| {}).expect_err("too coarse");
    assert!(coarse.to_string().contains("which must be three edges at least; take 0.0081 or less"), "{coarse}");
    let mut stiff = sample("stiff", "explicit", "spring", 0.02);
    stiff.bend = "isometric:stiffness=0.1".to_owned();
    let stiff = cantilever(&stiff, &mut |_| {}).expect_err("too stiff");
    assert!(stiff.to_string().contains("it is too stiff for this test"), "{stiff}");
}

#[test]
fn a_strip_pulls_with_the_stiffness_of_its_material() {
    let done = tensile(&sample("cotton", "explicit", "stvk:poisson=0.25", 0.02), &mut |_| {}).expect("a strip");
    let pull = done.curves[0].pulls[0];
    // The clamps keep the width of their ends, which stiffens the strip a little.
    assert!((pull.secant() / 1000.0 - 1.0).abs() < 0.03, "{} N/m", pull.secant());
    assert!((pull.narrowing - 0.25).abs() < 0.02, "{}", pull.narrowing);

    let woven =
        tensile(&sample("cotton", "explicit", "baraff_witkin:weft=500:shear=20", 0.02), &mut |_| {}).expect("one");
    let secant = |direction: Direction| {
        let curve = woven.curves.iter().find(|curve| curve.direction == direction).expect("a curve");
        curve.pulls[1].secant()
    };
    let [warp, weft, bias] = Direction::ALL.map(secant);
    assert!((warp / 1000.0 - 1.0).abs() < 0.02 && (weft / 500.0 - 1.0).abs() < 0.02, "{warp} and {weft} N/m");
    assert!(bias < 0.5 * weft, "cloth that shears easily gives way on the bias: {bias} N/m");
}

#[test]
fn a_frame_shears_with_the_stiffness_of_the_material_for_any_threads() {
    let stvk = sample("cotton", "explicit", "stvk", 0.02);
    let done = shear(&stvk, &mut |_| {}).expect("a square");
    let expected = done.expected.expect("it has one");
    assert!((done.stiffness / expected - 1.0).abs() < 0.01, "{} of {expected} N/m", done.stiffness);
    let again = shear(&muslin_lab::Sample { threads: 2, ..stvk }, &mut |_| {}).expect("a square");
    assert_eq!(done, again, "threads change nothing");
}

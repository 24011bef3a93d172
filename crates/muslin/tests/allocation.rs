//! A step allocates nothing once it is warm: whatever memory a solver needs, it takes in its first frame.
//!
//! In a binary of its own, since it counts every allocation of the process; and one test, so that nothing else allocates.

#![allow(unsafe_code, reason = "a global allocator that counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use muslin::Simulation;
use muslin::contact::{Asked, BroadPhase, Truncation};
use muslin::math::Vec3;
use muslin::mesh::{Diagonals, Mesh};
use muslin::parallel::Team;
use muslin::scene::parse;
use muslin::solver::{Need, SOLVERS, StepError};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is handed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Every choice of every solver's words, with few substeps.
fn settings() -> Vec<String> {
    let mut all = Vec::new();
    for kind in SOLVERS {
        let name = kind.entry.name;
        let has = |key: &str| kind.entry.parameters.iter().any(|parameter| parameter.name == key);
        let mut base = format!("kind = {name:?}");
        if has("substeps") {
            base += if name == "explicit" { ", substeps = 40" } else { ", substeps = 2" };
        }
        all.push(base.clone());
        for parameter in kind.entry.parameters {
            if let muslin::parameter::Kind::Choice(words) = parameter.kind {
                all.extend(words.iter().map(|word| format!("{base}, {} = {word:?}", parameter.name)));
            }
        }
        if has("acceleration") {
            all.push(format!("{base}, acceleration = 0.5"));
        }
        if has("max_strain") {
            all.extend(["f32", "f64"].map(|p| format!("{base}, max_strain = 0.001, precision = {p:?}")));
        }
    }
    all
}

/// Two sheets pressed into each other: finding pairs and holding steps, again and again.
fn warm_certificate_allocations() -> usize {
    let cells = 12_u32;
    let at = |k: u32| f64::from(k) / f64::from(cells) - 0.5;
    let sheet = |y: f64| (0..(cells + 1).pow(2)).map(move |k| Vec3::new(at(k % (cells + 1)), y, at(k / (cells + 1))));
    let start: Vec<_> = sheet(0.0).chain(sheet(0.01)).collect();
    let quads = (0..2 * cells * cells).map(|k| (k / cells + k / (cells * cells), k % cells));
    let corners = quads.map(|(row, column)| row * (cells + 1) + column);
    let triangles: Vec<_> =
        corners.flat_map(|k| [[k, k + cells + 1, k + 1], [k + 1, k + cells + 1, k + cells + 2]]).collect();
    let half = start.len() / 2;
    let object = |v: u32| usize::from(v as usize >= half);
    let (mut broad_phase, mut truncation) = (BroadPhase::new(&start, &triangles, object, |_| true), Truncation::new());
    let (team, mut end) = (Team::solo(), start.clone());
    let mut before = 0;
    for round in 0..6 {
        if round == 2 {
            before = ALLOCATIONS.load(Ordering::Relaxed);
        }
        end.iter_mut()
            .zip(&start)
            .for_each(|(end, &start)| *end = start + Vec3::new(0.0, -2.0 * (start.y - 0.005), 0.0));
        broad_phase.look(&team, 1, (&start, &end), &Asked::of_all(1e-3));
        let held =
            truncation.hold(&start, &mut end, |_| true, broad_phase.active(), 1e-9).unwrap_or_else(|e| panic!("{e}"));
        assert!(held.truncated > 100, "nothing to do: {held:?}");
    }
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

/// A sheet slides over another, which is held: lists of pairs are made again and again. Their lengths change, so memory is warm once it has
/// seen the motion: the second time it takes no more.
fn warm_contact_allocations(settings: &str) -> usize {
    let text = format!(
        r#"
                solver = {{ {settings} }}
        contact = {{ self_contact = true, thickness = 5e-3, friction = 0 }}
        [[cloth]]
        grid = {{ size = [0.2, 0.2], cells = [4, 4] }}
        translate = [0, 6e-3, 0]
        velocity = [0.3, 0, 0]
        material = {{ stretch = {{ stiffness = 20 }} }}
        [[cloth]]
        grid = {{ size = [1, 1], cells = [20, 20] }}
        material = {{ stretch = {{ stiffness = 20 }} }}
        pins = [{{ select = "all" }}]
        "#
    );
    let scene = parse(&text, &[]).scene.unwrap_or_else(|| panic!("{text}"));
    let mut simulation = Simulation::new(&scene, 1, &mut |_| Err(String::new())).unwrap_or_else(|e| panic!("{e}"));
    second_time_allocations(&mut simulation, 30)
}

/// Cloth on a mesh that swings to and fro; as above, memory is warm once it has seen the motion.
fn warm_body_allocations(solver: &str) -> usize {
    let text = format!(
        r#"
        solver = {{ kind = "{solver}", substeps = 10 }}
        [[cloth]]
        grid = {{ size = [0.5, 0.5], cells = [8, 8] }}
        translate = [0, 0.002, 0]
        [[collider]]
        mesh = {{ file = "plate" }}
        friction = 5
        path = [{{ time = 0 }}, {{ time = 0.5, offset = [0.1, 0, 0] }}, {{ time = 1 }}, {{ time = 1.5, offset = [0.1, 0, 0] }}]
        "#
    );
    let scene = parse(&text, &[]).scene.unwrap_or_else(|| panic!("{text}"));
    let plate = Mesh::grid([1.0, 1.0], [5, 5], Diagonals::Alternating).unwrap_or_default();
    let mut simulation = Simulation::new(&scene, 1, &mut |_| Ok(plate.clone())).unwrap_or_else(|e| panic!("{e}"));
    second_time_allocations(&mut simulation, 85)
}

/// Allocations of so many frames from the start on, once they have been computed before.
fn second_time_allocations(simulation: &mut Simulation, frames: usize) -> usize {
    let mut run = || {
        simulation.reset();
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        for frame in 0..frames {
            simulation.advance().unwrap_or_else(|e| panic!("frame {frame}: {e}"));
        }
        ALLOCATIONS.load(Ordering::Relaxed) - before
    };
    run();
    run()
}

#[test]
fn a_warm_step_allocates_nothing() {
    assert_eq!(warm_certificate_allocations(), 0, "allocations of a warm certificate");
    for settings in [
        "kind = \"xpbd\", substeps = 5",
        "kind = \"xpbd\", substeps = 5, max_strain = 0.001",
        // Not `newton`: its matrix has blocks for the pairs, and the analysis of a new pattern takes memory.
        "kind = \"vbd\", substeps = 2",
    ] {
        assert_eq!(warm_contact_allocations(settings), 0, "{settings}: allocations of warm self-contact");
    }
    for solver in ["xpbd", "vbd"] {
        assert_eq!(warm_body_allocations(solver), 0, "{solver}: allocations of warm frames on a mesh");
    }
    let damped = |name: &str| SOLVERS.iter().any(|kind| kind.entry.name == name && kind.reads_damping);
    let with_springs = settings().into_iter().map(|settings| (settings, "stiffness = 20"));
    let regions = "model = \"shape_matching\", mode = \"linear\", region = 0.3";
    let with_regions = ("kind = \"projective\", substeps = 2".to_owned(), regions);
    for (settings, stretch) in with_springs.chain([with_regions]) {
        let name = settings.split('"').nth(1).unwrap_or_default().to_owned();
        let takes_damping =
            damped(&name) && SOLVERS.iter().any(|kind| kind.entry.name == name && kind.needs != Need::Nothing);
        let damping = if takes_damping && stretch != regions { ", damping = 1e-4" } else { "" };
        let text = format!(
            r#"
            wind = {{ velocity = [1, 0, 0], drag = 1.0 }}
            solver = {{ {settings} }}
            contact = {{ self_contact = false }}
            [[cloth]]
            grid = {{ size = [1, 1], cells = [12, 12] }}
            translate = [0, 0.3, 0]
            material = {{ stretch = {{ {stretch}{damping} }} }}
            pins = [{{ vertices = [0], until = 0.2 }}, {{ vertices = [12], path = [{{ time = 0 }}, {{ time = 1, offset = [0.1, 0, 0] }}] }}]
            [[collider]]
            sphere = {{ center = [0, 0, 0], radius = 0.25 }}
            "#
        );
        let outcome = parse(&text, &[]);
        let scene = outcome.scene.unwrap_or_else(|| panic!("{:?}\n{text}", outcome.findings));
        // One thread: the pool of threads allocates when it is woken, which is not the solver's doing.
        let mut simulation = Simulation::new(&scene, 1, &mut |_| Err(String::new())).unwrap_or_else(|e| panic!("{e}"));
        // The number of its substeps changes, so memory is warm once it has seen the motion.
        if name == "auto" {
            (0..22).for_each(|_| drop(simulation.advance()));
            simulation.reset();
        }
        for _ in 0..2 {
            simulation.advance().unwrap_or_else(|e| panic!("{settings}: {e}"));
        }
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        for _ in 0..20 {
            match simulation.advance() {
                // What "plain" is there to show; it has stepped until then.
                Err(StepError::Indefinite { .. }) if settings.contains("plain") => break,
                outcome => outcome.unwrap_or_else(|e| panic!("{settings}: {e}")),
            };
        }
        let count = ALLOCATIONS.load(Ordering::Relaxed) - before;
        assert_eq!(count, 0, "{settings}: allocations in twenty warm frames");
    }
}

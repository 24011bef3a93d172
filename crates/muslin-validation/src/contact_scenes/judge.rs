//! The verdict of a cell: what must hold, what does not, and what cannot be asked of a solver.

use muslin::energy::{BEND, EnergyKind, Forms, STRETCH};
use muslin::scene::Scene;
use muslin::solver::{Need, SolverKind};

use super::cell::{End, Frame, Run, larger, largest_strain};

/// Energy from nowhere that a run may have, as a part of the energy scale.
pub(super) const MOST_ENERGY: f64 = 0.01;

/// The largest strain that a run may have, as a multiple of the reference's.
pub(super) const MOST_STRAIN: f64 = 1.2;

/// What a solver is to a scene, by what it declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nature {
    /// It follows the energies and the stiffness of the scene.
    Physical,
    /// It does not, so that neither can be judged: why.
    NoStiffness(String),
    /// It is not defined for a model of the scene: why.
    Undefined(String),
}

impl Nature {
    /// Of a solver in a scene that may name another one.
    pub fn of(kind: &SolverKind, scene: &Scene) -> Self {
        let models = scene.cloths.iter().flat_map(|cloth| {
            let material = &cloth.material;
            [("stretch", STRETCH, material.stretch.entry.name), ("bend", BEND, material.bend.entry.name)]
        });
        for (family, table, name) in models {
            let forms =
                table.iter().find(|model: &&EnergyKind| model.entry.name == name).map_or(Forms::ALL, |m| m.forms);
            if !kind.needs.met_by(forms) {
                return Self::Undefined(format!("it needs {}, which {family} `{name}` has not", kind.needs.in_words()));
            }
        }
        if kind.reads_k {
            Self::NoStiffness("its k is a part of the error for each projection, and no stiffness in N/m".to_owned())
        } else if kind.needs == Need::Nothing {
            Self::NoStiffness(format!("of the models it takes {}", kind.needs.in_words()))
        } else {
            Self::Physical
        }
    }
}

/// What does not hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// It took too long, after this frame.
    Stopped(usize),
    /// The solver gave up after this frame: why.
    Broke(usize, String),
    /// So many frames have cuts.
    Cuts(usize),
    /// Energy from nowhere, as a part of the energy scale.
    Energy(f64),
    /// The largest strain, as a multiple of the reference's.
    Strain(f64),
    /// There is no frame of the reference to compare with.
    NoReference,
}

/// The verdict.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// All that must hold does.
    Holds,
    /// This does not.
    Fails(Vec<Fault>),
    /// What can be asked of it holds; the rest cannot be asked, and why.
    ByNature(String),
}

/// A cell: one solver in one scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Its solver.
    pub solver: String,
    /// Its verdict.
    pub verdict: Verdict,
    /// Energy from nowhere at its worst, as a part of the energy scale.
    pub energy: Option<f64>,
    /// The largest strain.
    pub strain: Option<f64>,
    /// The same as a multiple of the reference's over the same frames.
    pub strain_ratio: Option<f64>,
    /// How far the centre of mass is from the reference's at most, in m.
    pub distance: Option<f64>,
    /// As it ran; `None` where it is not defined.
    pub run: Option<Run>,
}

impl Cell {
    /// Judges a run; a reference has nothing to be compared with.
    pub fn judged(solver: &str, nature: &Nature, run: Option<&Run>, reference: Option<&Run>) -> Self {
        let frames = run.map_or(&[][..], |run| &run.frames);
        let others = reference.map_or(&[][..], |run| &run.frames);
        let both = frames.len().min(others.len());
        let ratio = largest_strain(&frames[..both]).zip(largest_strain(&others[..both])).map(|(a, b)| a / b);
        let ways = frames.iter().zip(others).map(|(a, b)| (a.center - b.center).norm());
        let cell = Self {
            solver: solver.to_owned(),
            verdict: Verdict::Holds,
            // What a solver does not follow is no measure of it.
            energy: energy_from_nowhere(frames).filter(|_| *nature == Nature::Physical),
            strain: largest_strain(frames),
            strain_ratio: ratio,
            distance: ways.reduce(larger),
            run: run.cloned(),
        };
        let verdict = match nature {
            Nature::Undefined(why) => Verdict::ByNature(why.clone()),
            Nature::NoStiffness(why) => verdict_of(cell.faults(), Some(why)),
            Nature::Physical => {
                let mut faults = cell.faults();
                faults.extend(cell.energy.filter(|part| is_beyond(*part, MOST_ENERGY)).map(Fault::Energy));
                faults.extend(cell.strain_ratio.filter(|ratio| is_beyond(*ratio, MOST_STRAIN)).map(Fault::Strain));
                if reference.is_some() && both == 0 && !frames.is_empty() {
                    faults.push(Fault::NoReference);
                }
                verdict_of(faults, None)
            }
        };
        Self { verdict, ..cell }
    }

    /// What fails whatever the solver.
    fn faults(&self) -> Vec<Fault> {
        let Some(run) = &self.run else { return Vec::new() };
        let end = match &run.end {
            End::Whole => None,
            End::Stopped => Some(Fault::Stopped(run.frames.len())),
            End::Broke(why) => Some(Fault::Broke(run.frames.len(), why.clone())),
        };
        let cuts = run.cuts.filter(|count| *count > 0).map(Fault::Cuts);
        end.into_iter().chain(cuts).collect()
    }
}

fn verdict_of(faults: Vec<Fault>, nature: Option<&String>) -> Verdict {
    match nature {
        _ if !faults.is_empty() => Verdict::Fails(faults),
        Some(why) => Verdict::ByNature(why.clone()),
        None => Verdict::Holds,
    }
}

/// What is no number is beyond every limit.
fn is_beyond(value: f64, limit: f64) -> bool {
    value.is_nan() || value > limit
}

/// The most energy from nowhere of any frame, as a part of the energy scale: what `muslin run` warns of.
///
/// The scale of a run is the most that any frame of it has in motion, in strain, in height since the first, and in work done on the cloth.
fn energy_from_nowhere(frames: &[Frame]) -> Option<f64> {
    let start = frames.first()?.gravity_energy;
    let turnover = |frame: &Frame| {
        let height = (frame.gravity_energy - start).abs();
        frame.kinetic_energy + frame.elastic_energy.abs() + height + frame.work
    };
    let scale = frames.iter().map(turnover).fold(0.0, f64::max);
    frames.iter().filter_map(|frame| Some(frame.energy_error? / scale)).reduce(larger)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use muslin::math::Vec3;
    use muslin::scene::parse;
    use muslin::solver::find;

    /// A run whose frames have an energy of 2 J, and each its energy error and strain.
    pub(in crate::contact_scenes) fn run(frames: &[(f64, f64)]) -> Run {
        let frame = |&(energy_error, max_strain): &(f64, f64)| Frame {
            kinetic_energy: 1.5,
            elastic_energy: 0.5,
            gravity_energy: -3.0,
            energy_error: Some(energy_error),
            work: 0.0,
            max_strain,
            center: Vec3::new(max_strain, 0.0, 0.0),
            substeps: 20,
            stable_step: None,
            held: 1,
            cut_vertices: 0,
        };
        Run {
            vertices: 9,
            frames: frames.iter().map(frame).collect(),
            wanted: frames.len(),
            end: End::Whole,
            wall: 1.0,
            processor: None,
            cuts: Some(0),
        }
    }

    fn judged(run: &Run) -> Cell {
        Cell::judged("xpbd", &Nature::Physical, Some(run), Some(&self::run(&[(0.0, 0.05), (0.0, 0.10)])))
    }

    #[test]
    fn a_cell_holds_up_to_its_limits_and_says_what_is_beyond() {
        assert_eq!(judged(&run(&[(-1.0, 0.01), (0.02, 0.12)])).verdict, Verdict::Holds);
        let Verdict::Fails(faults) = judged(&run(&[(0.05, 0.13), (0.0, 0.0)])).verdict else { panic!("it fails") };
        assert!(
            matches!(faults[..], [Fault::Energy(e), Fault::Strain(s)] if e == 0.025 && (s - 1.3).abs() < 1e-12),
            "{faults:?}"
        );
        let cut = Run { cuts: Some(3), ..run(&[(0.0, 0.1), (0.0, 0.1)]) };
        assert_eq!(judged(&cut).verdict, Verdict::Fails(vec![Fault::Cuts(3)]));
    }

    #[test]
    fn the_distance_is_the_largest_of_the_frames_that_both_have() {
        let distance = judged(&run(&[(0.0, 0.02), (0.0, 0.09), (0.0, 7.0)])).distance.expect("two frames");
        assert!((distance - 0.03).abs() < 1e-12, "{distance}");
    }

    #[test]
    fn a_run_that_did_not_come_to_its_end_is_compared_as_far_as_it_came() {
        let stopped = Run { wanted: 2, end: End::Stopped, ..run(&[(0.0, 0.055)]) };
        let cell = judged(&stopped);
        assert_eq!(cell.verdict, Verdict::Fails(vec![Fault::Stopped(1)]));
        assert!(cell.strain_ratio.is_some_and(|ratio| (ratio - 1.1).abs() < 1e-12), "the first frame only: {cell:?}");
        let broke = Run { wanted: 2, end: End::Broke("diverged".to_owned()), ..run(&[]) };
        assert_eq!(judged(&broke).verdict, Verdict::Fails(vec![Fault::Broke(0, "diverged".to_owned())]));
    }

    #[test]
    fn what_is_no_number_fails() {
        assert!(matches!(judged(&run(&[(f64::NAN, 0.1), (0.0, 0.1)])).verdict, Verdict::Fails(_)));
        assert!(matches!(judged(&run(&[(0.0, 0.1), (0.0, f64::NAN)])).verdict, Verdict::Fails(_)));
    }

    #[test]
    fn the_scale_is_the_most_of_the_run() {
        let mut fast = run(&[(0.0, 0.1), (0.02, 0.1)]);
        fast.frames[0].kinetic_energy = 9.5;
        assert_eq!(judged(&fast).energy, Some(0.002));
        fast.frames.swap(0, 1);
        assert_eq!(judged(&fast).energy, Some(0.002), "whenever that was");
    }

    #[test]
    fn what_a_solver_declares_decides_what_is_asked_of_it() {
        let text = "[[cloth]]\ngrid = { size = [1, 1], cells = [1, 1] }\nmaterial = { bend = { model = \"dihedral\", stiffness = 1e-5 } }";
        let scene = parse(text, &[]).into_result().expect("a scene");
        let nature = |name: &str| Nature::of(find(name).expect("a solver"), &scene);
        assert_eq!(nature("newton"), Nature::Physical);
        assert!(matches!(nature("pbd"), Nature::NoStiffness(_)), "{:?}", nature("pbd"));
        assert!(matches!(nature("shape_matching"), Nature::NoStiffness(_)), "{:?}", nature("shape_matching"));
        assert!(matches!(nature("projective"), Nature::Undefined(why) if why.contains("dihedral")));
    }

    #[test]
    fn without_a_stiffness_only_cuts_and_the_end_are_judged() {
        let nature = Nature::NoStiffness("k".to_owned());
        let wild = run(&[(5.0, 3.0)]);
        let reference = run(&[(0.0, 0.1)]);
        let cell = |run: &Run| Cell::judged("pbd", &nature, Some(run), Some(&reference)).verdict;
        assert_eq!(cell(&wild), Verdict::ByNature("k".to_owned()));
        assert_eq!(cell(&Run { cuts: Some(1), ..wild }), Verdict::Fails(vec![Fault::Cuts(1)]));
    }
}

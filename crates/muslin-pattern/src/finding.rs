//! What is wrong with a pattern, and where.

use std::fmt;

use thiserror::Error;

/// Where in a pattern something was found.
///
/// ```
/// use muslin_pattern::Place;
///
/// let place = Place::Edge { panel: "front".to_owned(), edge: 2 };
/// assert_eq!(place.to_string(), "panel \"front\", edge 2");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The file as a whole.
    File,
    /// Its `properties`.
    Properties,
    /// A panel.
    Panel {
        /// Its name.
        panel: String,
    },
    /// A corner of a panel.
    Corner {
        /// The panel's name.
        panel: String,
        /// Number in `vertices`, counted from 0.
        corner: usize,
    },
    /// An edge of a panel.
    Edge {
        /// The panel's name.
        panel: String,
        /// Number in `edges`, counted from 0.
        edge: usize,
    },
    /// A stitch.
    Stitch {
        /// Number in `stitches`, counted from 0.
        stitch: usize,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => f.write_str("pattern"),
            Self::Properties => f.write_str("properties"),
            Self::Panel { panel } => write!(f, "panel {panel:?}"),
            Self::Corner { panel, corner } => write!(f, "panel {panel:?}, corner {corner}"),
            Self::Edge { panel, edge } => write!(f, "panel {panel:?}, edge {edge}"),
            Self::Stitch { stitch } => write!(f, "stitch {stitch}"),
        }
    }
}

/// Whether a pattern can be used all the same.
///
/// ```
/// use muslin_pattern::Severity;
///
/// assert!(Severity::Warning < Severity::Error);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It can; somebody should look.
    Warning,
    /// It cannot.
    Error,
}

/// Something wrong or odd in a pattern.
///
/// ```
/// use muslin_pattern::{Limits, Pattern};
///
/// let error = Pattern::from_json("{}", &Limits::default()).unwrap_err();
/// assert_eq!(error.findings[0].to_string(), "pattern: has no \"pattern\"; it holds the panels and the stitches");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Whether the pattern can be used all the same.
    pub severity: Severity,
    /// Where.
    pub place: Place,
    /// What.
    pub problem: Problem,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.problem)
    }
}

/// A pattern that cannot be read: everything that is wrong with it.
///
/// ```
/// use muslin_pattern::{Limits, Pattern};
///
/// let error = Pattern::from_json("[", &Limits::default()).unwrap_err();
/// assert_eq!(error.to_string(), "pattern: not valid JSON: EOF while parsing a list at line 1 column 1");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PatternError {
    /// At least one error, and the warnings that came before it; never more than [`MAX_FINDINGS`].
    pub findings: Vec<Finding>,
}

/// How many findings are kept of one pattern.
pub const MAX_FINDINGS: usize = 100;

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errors = self.findings.iter().filter(|finding| finding.severity == Severity::Error);
        for (index, finding) in errors.enumerate() {
            write!(f, "{}{finding}", if index > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}

impl std::error::Error for PatternError {}

/// What is wrong or odd. Lengths are in m.
///
/// ```
/// use muslin_pattern::Problem;
///
/// let problem = Problem::SameCorner { corner: 3 };
/// assert_eq!(problem.to_string(), "runs from corner 3 to itself; an edge joins two corners");
/// ```
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Problem {
    /// More text than a pattern has.
    #[error("{bytes} bytes, but a pattern has at most {limit}; is this a pattern?")]
    TooLarge {
        /// Its length.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// Not JSON at all.
    #[error("not valid JSON: {reason}")]
    NotJson {
        /// What and where, in the words of the parser.
        reason: String,
    },
    /// A key that must be there.
    #[error("has no {key:?}; {cure}")]
    Missing {
        /// The key.
        key: &'static str,
        /// What it is for, or what to write.
        cure: &'static str,
    },
    /// A value of the wrong type or shape.
    #[error("{key} is {found}, but must be {expected}")]
    WrongType {
        /// The key, or the entry.
        key: String,
        /// What was found there.
        found: String,
        /// What must be there.
        expected: &'static str,
    },
    /// A key that nothing reads.
    #[error("the key {key:?} is not known and was not read")]
    UnknownKey {
        /// The key.
        key: String,
    },
    /// A word that is not in the list.
    #[error("{key} is {found:?}, but must be {choices}")]
    UnknownWord {
        /// The key, or the entry.
        key: &'static str,
        /// The word.
        found: String,
        /// What may stand there.
        choices: &'static str,
    },
    /// Units that no pattern has.
    #[error(
        "\"units_in_meter\" is {value}, but must be from {low} to {high}: 100 for centimetres, 1000 for millimetres"
    )]
    Units {
        /// The number found.
        value: f64,
        /// The least.
        low: f64,
        /// The most.
        high: f64,
    },
    /// No units.
    #[error("\"units_in_meter\" is not given; lengths were taken for centimetres (100)")]
    NoUnits,
    /// Too many of something.
    #[error("{count} {what}, but at most {limit} are read; split the pattern")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many.
        count: usize,
        /// The limit.
        limit: usize,
    },
    /// No panels.
    #[error("has no panels; a garment needs at least one")]
    NoPanels,
    /// A name that nobody can show.
    #[error("its name has {length} letters, but may have {limit} at most; rename it")]
    LongName {
        /// Its length.
        length: usize,
        /// The limit.
        limit: usize,
    },
    /// Too few edges to go round something.
    #[error("has {} only, but needs at least 2, and 3 if they are straight; a panel is a closed loop", counted(*.count, "edge"))]
    FewEdges {
        /// How many there are.
        count: usize,
    },
    /// A corner that does not exist.
    #[error("uses corner {corner}, but the panel has {count} (numbered from 0); correct \"endpoints\"")]
    NoSuchCorner {
        /// The number.
        corner: usize,
        /// How many there are.
        count: usize,
    },
    /// An edge from a corner to itself.
    #[error("runs from corner {corner} to itself; an edge joins two corners")]
    SameCorner {
        /// The corner.
        corner: usize,
    },
    /// An edge without length.
    #[error("is {:.3} mm long, but must be at least {:.1} mm; merge its corners", length * 1e3, limit * 1e3)]
    ZeroLength {
        /// Its length.
        length: f64,
        /// The limit.
        limit: f64,
    },
    /// A number beyond anything that is worn.
    #[error("{what} is {value}, but may be {limit} m at most; is \"units_in_meter\" right?")]
    Absurd {
        /// What it is of.
        what: &'static str,
        /// The number, in m, or what stood there.
        value: String,
        /// The limit, in m.
        limit: f64,
    },
    /// A panel beyond anything that is worn.
    #[error("is {:.4} m by {:.4} m, but each side must be from {low} to {high} m; is \"units_in_meter\" right?", size[0], size[1])]
    Extent {
        /// Width and height.
        size: [f64; 2],
        /// The least.
        low: f64,
        /// The most.
        high: f64,
    },
    /// The edges do not go round.
    #[error("ends at corner {corner}, where no other edge begins or ends; the edges of a panel form one closed loop")]
    OpenLoop {
        /// The corner where the loop ends.
        corner: usize,
    },
    /// An edge that runs against the others.
    #[error(
        "runs from corner {} to corner {}, against the edges beside it; write \"endpoints\": [{1}, {0}]; it was not turned, because stitches and the outer side follow from its direction",
        endpoints[0], endpoints[1]
    )]
    Against {
        /// Its corners as they stand.
        endpoints: [usize; 2],
    },
    /// More than two edges at a corner.
    #[error("belongs to {count} edges, but two meet at each corner; a panel is one closed loop, without holes")]
    Branching {
        /// How many there are.
        count: usize,
    },
    /// More than one loop.
    #[error("begins a second loop; a panel is one closed loop without holes, so make two panels, or cut it open")]
    SecondLoop,
    /// Edges in another order than the loop's.
    #[error("its edges are out of order; they were sorted into a loop: {order}")]
    Reordered {
        /// The numbers of the edges in their new order.
        order: String,
    },
    /// A corner that no edge uses.
    #[error("no edge uses it; it was left out")]
    UnusedCorner,
    /// The kind of curve is not known.
    #[error("the curvature type {found:?} is not known; it is \"quadratic\", \"cubic\" or \"circle\"")]
    UnknownCurvature {
        /// The word found.
        found: String,
    },
    /// An arc that does not reach.
    #[error("an arc with a radius of {:.4} m cannot span {:.4} m; its radius must be at least {:.4} m", radius, chord, 0.5 * chord)]
    ArcRadius {
        /// Its radius.
        radius: f64,
        /// The distance of its ends.
        chord: f64,
    },
    /// A panel that crosses itself.
    #[error("{}; a panel must not cross or touch itself", meeting(*.other))]
    Crosses {
        /// The other edge; nothing if the edge crosses itself.
        other: Option<usize>,
    },
    /// A panel without area.
    #[error("encloses {:.4} cm², but must enclose at least {:.1} cm²; is \"units_in_meter\" right?", area * 1e4, limit * 1e4)]
    NoArea {
        /// What it encloses, in m².
        area: f64,
        /// The limit, in m².
        limit: f64,
    },
    /// A panel that does not exist.
    #[error("{key} names the panel {panel:?}, but there is none; there are {known}")]
    NoSuchPanel {
        /// Where it is named.
        key: &'static str,
        /// The name.
        panel: String,
        /// The first names.
        known: String,
    },
    /// A panel named twice in `panel_order`.
    #[error("\"panel_order\" names the panel {panel:?} twice; name it once")]
    PanelTwice {
        /// The name.
        panel: String,
    },
    /// An edge that does not exist.
    #[error("sews edge {edge} of panel {panel:?}, which has {count} edges (numbered from 0)")]
    NoSuchEdge {
        /// The panel.
        panel: String,
        /// The number.
        edge: usize,
        /// How many there are.
        count: usize,
    },
    /// A stitch without two sides.
    #[error("has {}, but a stitch joins 2 edges; make a stitch for each pair", counted(*.count, "side"))]
    StitchSides {
        /// How many there are.
        count: usize,
    },
    /// An edge in two stitches.
    #[error("sews edge {edge} of panel {panel:?}, which stitch {other} sews already; divide the edge at a corner")]
    EdgeTwice {
        /// The panel.
        panel: String,
        /// The edge.
        edge: usize,
        /// The first stitch that sews it.
        other: usize,
    },
    /// An edge sewn to itself.
    #[error("sews edge {edge} of panel {panel:?} to itself; name two edges")]
    SameEdge {
        /// The panel.
        panel: String,
        /// The edge.
        edge: usize,
    },
    /// Two sides whose lengths do not go together.
    #[error("sews {}, a ratio of {ratio:.2}, but at most {limit} may be gathered; correct a length, or allow more", lengths(.sides))]
    SeamRatio {
        /// Panel, edge and length of both sides.
        sides: [(String, usize, f64); 2],
        /// The longer over the shorter.
        ratio: f64,
        /// The limit.
        limit: f64,
    },
    /// Two sides of which one is gathered a lot.
    #[error("sews {}, a ratio of {ratio:.2}, more than the {usual} of a usual gather; is that meant?", lengths(.sides))]
    Gathered {
        /// Panel, edge and length of both sides.
        sides: [(String, usize, f64); 2],
        /// The longer over the shorter.
        ratio: f64,
        /// What is usual.
        usual: f64,
    },
}

/// Both sides of a seam with their lengths.
fn lengths(sides: &[(String, usize, f64); 2]) -> String {
    let [a, b] = sides
        .each_ref()
        .map(|(panel, edge, length)| format!("{:.2} cm (panel {panel:?}, edge {edge})", length * 100.0));
    format!("{a} to {b}")
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// What a panel that crosses itself does.
fn meeting(other: Option<usize>) -> String {
    match other {
        Some(edge) => format!("meets edge {edge} away from a corner of theirs, or folds back onto it"),
        None => "crosses itself".to_owned(),
    }
}

/// Findings as they come; [`Place`] and [`Problem`] say the rest.
#[derive(Debug, Default)]
pub(crate) struct Findings(Vec<Finding>);

impl Findings {
    pub(crate) fn error(&mut self, place: Place, problem: Problem) {
        self.push(Finding { severity: Severity::Error, place, problem });
    }

    pub(crate) fn warning(&mut self, place: Place, problem: Problem) {
        self.push(Finding { severity: Severity::Warning, place, problem });
    }

    /// Keeps room for errors: what stops a reader must not be lost behind what does not.
    fn push(&mut self, finding: Finding) {
        let limit = if finding.severity == Severity::Error { MAX_FINDINGS } else { MAX_FINDINGS / 2 };
        if self.0.len() < limit {
            self.0.push(finding);
        }
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.0.iter().any(|finding| finding.severity == Severity::Error)
    }

    /// The warnings, or an error where there is one.
    pub(crate) fn warnings(self) -> Result<Vec<Finding>, PatternError> {
        if self.has_errors() { Err(self.into_error()) } else { Ok(self.0) }
    }

    pub(crate) fn into_error(self) -> PatternError {
        PatternError { findings: self.0 }
    }
}

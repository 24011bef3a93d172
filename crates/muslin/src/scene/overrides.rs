//! `--set PATH=VALUE`: one value of a scene replaced before it is read.
//!
//! An override changes the tree of the text, not the description, so that the value is checked like any other and a
//! mistake in it is reported as the override's.

use std::sync::Arc;

use crate::scene::finding::{Mark, Report};
use crate::scene::node::{DEEPEST, Field, Node, Value};

/// A value for one key of a scene.
///
/// ```
/// use muslin::scene::{Override, parse};
///
/// let text = "[[cloth]]\ngrid = { size = [1, 1], cells = [2, 2] }";
/// let faster = Override::parse("fps=120")?;
/// assert_eq!(parse(text, &[faster]).into_result()?.fps, 120.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Override {
    segments: Vec<String>,
    value: Node,
}

impl Override {
    /// Reads `PATH=VALUE`: `solver.substeps=40`, `cloth.0.material.density=0.3` or `cloth[0].material.density=0.3`.
    ///
    /// The value is TOML; what is not TOML and does not look like a mistyped list, table or quoted string is taken as
    /// a string, so that `solver.kind=pbd` needs no quotes within quotes.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (path, value) = text
            .split_once('=')
            .ok_or_else(|| format!("{text:?} is not an override: write PATH=VALUE, for example solver.substeps=40"))?;
        let segments = parse_path(path.trim())?;
        let value = parse_value(value.trim(), &Arc::from(text))?;
        Ok(Self { segments, value })
    }

    /// Places the value in the tree of a scene, or reports why it has no place there.
    pub(super) fn apply(&self, root: &mut Node, report: &mut Report) {
        let mark = &self.value.mark;
        let mut node = root;
        let mut path = String::new();
        for (i, segment) in self.segments.iter().enumerate() {
            let step = Step { segment, next: self.segments.get(i + 1), mark };
            node = match step.descend(node, &path) {
                Ok(child) => child,
                Err(message) => return report.error(mark, path, message),
            };
            join(&mut path, segment);
        }
        *node = self.value.clone();
    }
}

/// One step from a table or an array to what it holds.
struct Step<'a> {
    segment: &'a str,
    next: Option<&'a String>,
    mark: &'a Mark,
}

impl Step<'_> {
    fn descend<'n>(&self, node: &'n mut Node, path: &str) -> Result<&'n mut Node, String> {
        match &mut node.value {
            Value::Table(fields) => self.field(fields),
            Value::Array(elements) => self.element(elements, path),
            _ => Err(format!("is not a table, so {:?} cannot be set in it; set {path} itself", self.segment)),
        }
    }

    /// The value of a key, which is made if there is none.
    fn field<'n>(&self, fields: &'n mut Vec<Field>) -> Result<&'n mut Node, String> {
        let position = match fields.iter().position(|field| field.key == self.segment) {
            Some(position) => position,
            None => self.create(fields)?,
        };
        let field = &mut fields[position];
        if self.next.is_none() {
            field.key_mark = self.mark.clone();
        }
        Ok(&mut field.node)
    }

    fn create(&self, fields: &mut Vec<Field>) -> Result<usize, String> {
        if let Some(index) = self.next.filter(|next| is_index(next)) {
            return Err(format!(
                "the scene has no {0:?}, so it has no element {index} to set; set all of {0} to an array",
                self.segment
            ));
        }
        let node = Node { value: Value::Table(Vec::new()), mark: self.mark.clone() };
        fields.push(Field { key: self.segment.to_owned(), key_mark: self.mark.clone(), node });
        Ok(fields.len() - 1)
    }

    fn element<'n>(&self, elements: &'n mut [Node], path: &str) -> Result<&'n mut Node, String> {
        let count = elements.len();
        if !is_index(self.segment) {
            return Err(format!("is an array: say which element, for example {path}.0"));
        }
        let index = self.segment.parse().unwrap_or(usize::MAX);
        elements.get_mut(index).ok_or_else(|| match count {
            0 => format!("has no element {}: it is empty; set all of {path} to an array", self.segment),
            _ => format!("has no element {}: the last is {}", self.segment, count - 1),
        })
    }
}

fn is_index(segment: &str) -> bool {
    segment.bytes().all(|byte| byte.is_ascii_digit())
}

fn join(path: &mut String, segment: &str) {
    if is_index(segment) {
        path.push_str(&format!("[{segment}]"));
    } else {
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(segment);
    }
}

/// Findings write `cloth[0].name` and the command line `cloth.0.name`: both are read, so that either can be copied.
pub(super) fn parse_path(path: &str) -> Result<Vec<String>, String> {
    let dotted = path.replace("][", ".").replace("].", ".").replace('[', ".");
    let dotted = dotted.strip_suffix(']').unwrap_or(&dotted);
    let segments: Vec<String> = dotted.split('.').map(str::to_owned).collect();
    let is_bare = |s: &String| !s.is_empty() && s.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if segments.len() > DEEPEST || !segments.iter().all(is_bare) {
        return Err(format!(
            "{path:?} is not the path of a scene key: write keys and indices with dots between, \
             for example cloth.0.material.density"
        ));
    }
    Ok(segments)
}

fn parse_value(text: &str, set: &Arc<str>) -> Result<Node, String> {
    if text.is_empty() {
        return Err(format!("{set:?} has no value: write PATH=VALUE"));
    }
    match Node::parse_value(text, set) {
        Ok(node) => Ok(node),
        Err(error) if text.starts_with(['[', '{', '"', '\'']) || text.contains(['\n', '\r']) => {
            Err(format!("the value of {set:?} is not valid TOML: {error}"))
        }
        Err(_) => Ok(Node { value: Value::String(text.to_owned()), mark: Mark::Set(Arc::clone(set)) }),
    }
}

//! A start that contact cannot begin with, for whoever wants to see it.

use crate::contact::untangle::initial::{Owner, Start};
use crate::description;
use crate::description::{LoadFrames, LoadMesh, Problem, Problems, Scene};
use crate::model::Model;
use crate::setup::build;

/// A start that is refused, to be looked at.
///
/// ```
/// use muslin::scene::parse;
/// use muslin::setup::BadStart;
///
/// let sheet = "[[cloth]]\ngrid = { size = [1, 1], cells = [2, 2] }\n";
/// let scene = parse(&format!("contact.self_contact = true\n{sheet}{sheet}rotate = [90, 0, 0]"), &[]).into_result()?;
/// let none = |file: &str| Err(format!("there is no {file}"));
/// let start = BadStart::find(&scene, &mut |file| none(file).map(|()| unreachable!()), &mut |file| none(file).map(|()| unreachable!()));
/// assert!(start.is_some_and(|start| !start.cloths[0].is_empty()), "one sheet cuts the other");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct BadStart {
    /// The scene, as it would have begun.
    pub model: Model,
    /// The messages about it.
    pub problems: Vec<Problem>,
    /// For each cloth, the triangles that cut or touch something, rising, as the user numbers them.
    pub cloths: Vec<Vec<u32>>,
    /// The same for each of [`Model::bodies`].
    pub bodies: Vec<Vec<u32>>,
}

impl BadStart {
    /// The start of a scene, if it is one that [`compile_with`](crate::setup::compile_with) refuses for what cuts or touches in it.
    pub fn find(scene: &Scene, load: &mut LoadMesh<'_>, load_frames: &mut LoadFrames<'_>) -> Option<Self> {
        if scene.contact.start != description::Start::Error {
            return None;
        }
        let mut problems = Problems::default();
        let (model, _) = build(scene, load, load_frames, &mut problems)?;
        let start = Start::look(&model);
        let clashes = start.clashes();
        if clashes.is_empty() {
            return None;
        }
        let mut problems = Problems::default();
        clashes.into_iter().for_each(|clash| clash.refuse(&mut problems));
        let mut cloths = vec![Vec::new(); model.cloths.len()];
        let mut bodies = vec![Vec::new(); model.bodies.len()];
        for triangle in start.triangles() {
            match model.owner_of_triangle(triangle) {
                (Owner::Cloth(cloth), own) => cloths[cloth].push(own),
                (Owner::Body(body), own) => bodies[body].push(own),
            }
        }
        Some(Self { problems: problems.into_list(), model, cloths, bodies })
    }
}

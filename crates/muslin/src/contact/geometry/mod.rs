//! Geometry of points, segments and triangles: distances, intersections, and the tree that finds them.

pub(crate) mod axis_gaps;
pub(crate) mod bvh;
pub(crate) mod closest_points;
pub(crate) mod surface;
pub(crate) mod triangle_intersection;

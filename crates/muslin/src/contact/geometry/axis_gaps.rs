//! Axis gaps: how far two primitives are apart along the axes, the first and cheapest look at a pair.

use crate::math::Vec3;

/// How far the first `first_count` of four points are above all others along each axis, and below them; exact in sign.
#[inline]
pub(crate) fn axis_gaps(points: &[Vec3<f64>; 4], first_count: usize) -> (Vec3<f64>, Vec3<f64>) {
    let bounds = |points: &[Vec3<f64>]| {
        points[1..].iter().fold((points[0], points[0]), |(low, high), p| {
            let least = |x: f64, y: f64| if y < x { y } else { x };
            let greatest = |x: f64, y: f64| if y > x { y } else { x };
            (
                Vec3::new(least(low.x, p.x), least(low.y, p.y), least(low.z, p.z)),
                Vec3::new(greatest(high.x, p.x), greatest(high.y, p.y), greatest(high.z, p.z)),
            )
        })
    };
    let (first, second) = points.split_at(first_count);
    let ((low_a, high_a), (low_b, high_b)) = (bounds(first), bounds(second));
    (low_a - high_b, low_b - high_a)
}

/// Whether the first `FIRST` of four points are farther from the others than `distance` along an axis.
#[inline]
pub(crate) fn is_beyond<const FIRST: usize>(x: &[Vec3<f64>; 4], distance: f64) -> bool {
    let (above, below) = axis_gaps(x, FIRST);
    let is_far = |gap: Vec3<f64>| (gap.x > distance) | (gap.y > distance) | (gap.z > distance);
    is_far(above) | is_far(below)
}

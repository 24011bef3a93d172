"""A picture of a simulation for a notebook: the cloths as SVG, seen from above and aside, without colliders."""

from __future__ import annotations

import html
from typing import Any

import numpy as np

WIDTH = 480
"""Of the picture, in pixels."""

MOST = 20_000
"""Triangles: with more, the text of the picture would weigh down a notebook."""

DIRECTION = np.array([-0.55, -0.45, -0.85]) / np.linalg.norm([-0.55, -0.45, -0.85])
LIGHT = np.array([0.3, 0.9, 0.3]) / np.linalg.norm([0.3, 0.9, 0.3])
COLORS = np.array([[205, 92, 92], [70, 130, 180], [143, 188, 143], [218, 165, 32]], float)


def page(sim: Any) -> str:
    """The picture with its caption, or the caption alone where there are too many triangles."""
    caption = f"<figcaption>{html.escape(repr(sim))}</figcaption>"
    corners, colors = [], []
    for number, cloth in enumerate(sim.cloths):
        triangles = sim.positions(cloth)[sim.triangles(cloth)].astype(float)
        corners.append(triangles)
        colors.append(np.broadcast_to(COLORS[number % len(COLORS)], (len(triangles), 3)))
    points = np.concatenate(corners)
    if len(points) > MOST:
        return f"<figure>{caption}</figure>"
    return f"<figure>{svg(points, np.concatenate(colors))}{caption}</figure>"


def svg(points: Any, colors: Any) -> str:
    """Triangles (m, 3, 3), in m, from the farthest to the nearest."""
    right = np.cross(DIRECTION, [0.0, 1.0, 0.0])
    right /= np.linalg.norm(right)
    plane = points @ np.stack([right, -np.cross(right, DIRECTION)], axis=1)
    low = plane.min(axis=(0, 1))
    extent = np.maximum(plane.max(axis=(0, 1)) - low, 1e-9)
    places = (plane - low) * (WIDTH / extent[0]) if extent[0] > extent[1] else (plane - low) * (WIDTH / extent[1])
    normals = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    facing = np.abs((normals / np.where(lengths > 0, lengths, 1)) @ LIGHT)
    shades = (colors * (0.35 + 0.65 * facing[:, None])).astype(int)
    order = np.argsort(points.mean(axis=1) @ DIRECTION)[::-1]
    paths = "".join(
        f'<path d="M{a:.1f} {b:.1f}L{c:.1f} {d:.1f} {e:.1f} {f:.1f}z" fill="#{red:02x}{green:02x}{blue:02x}"/>'
        for (a, b, c, d, e, f), (red, green, blue) in zip(
            places[order].reshape(-1, 6).tolist(), shades[order].tolist(), strict=True
        )
    )
    width, height = places.max(axis=(0, 1))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.1f} {height:.1f}" shape-rendering="crispEdges">{paths}</svg>'
    )

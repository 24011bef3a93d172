//! muslin-render.

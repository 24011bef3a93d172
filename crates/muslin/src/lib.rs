//! muslin.

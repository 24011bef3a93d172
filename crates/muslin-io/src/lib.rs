//! muslin-io.

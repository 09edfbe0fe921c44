//! Where the world is put together: the only place that names concrete adapters.

pub mod probe;

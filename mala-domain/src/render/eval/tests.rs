//! What people see of an eval.

//! Source text in; symbols, enclosing blocks and rule matches out. Pure: it reads nothing.

pub mod coded_check;
pub mod context;
pub mod cross_file;
pub mod diff_checks;
pub mod grammar;
pub mod parsed;
pub mod regex_check;
pub mod rules;
pub mod source;
pub mod symbols;
pub mod taint;

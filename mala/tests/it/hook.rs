//! `mala hook` from the outside: a repository, an agent that wants to stop, and one JSON object each time.

mod bench;
mod evasions;
mod hostile;
mod install;
mod moved;
mod real;
mod stop;
mod work;

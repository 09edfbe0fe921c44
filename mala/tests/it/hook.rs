//! `mala hook` from the outside: a repository, an agent that wants to stop, and one JSON object each time.

mod bench;
mod conversations;
mod hostile;
mod install;
mod limits;
mod push;
mod real;
mod stop;
mod work;

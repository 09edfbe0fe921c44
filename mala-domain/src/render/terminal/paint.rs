//! Colours. They only repeat what the text says.

use super::Options;
use crate::render::level::Level;
use anstyle::{AnsiColor, Style};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// Applies styles to text; does nothing if colours are off.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paint {
    on: bool,
}

impl Paint {
    pub(super) fn new(options: &Options) -> Self {
        Self { on: options.color }
    }

    pub(super) fn strong(self, text: &str) -> String {
        self.styled(BOLD, text)
    }

    pub(super) fn faint(self, text: &str) -> String {
        self.styled(DIM, text)
    }

    pub(super) fn level(self, level: Level, text: &str) -> String {
        let color = match level {
            Level::Error => AnsiColor::Red,
            Level::Warning => AnsiColor::Yellow,
            Level::Note => AnsiColor::Cyan,
        };
        self.styled(color.on_default().bold(), text)
    }

    pub(super) fn good(self, text: &str) -> String {
        self.styled(AnsiColor::Green.on_default().bold(), text)
    }

    fn styled(self, style: Style, text: &str) -> String {
        if !self.on {
            return text.to_owned();
        }
        format!("{}{text}{}", style.render(), style.render_reset())
    }
}

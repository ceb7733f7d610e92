//! What is lowered: the units with what is known of all of them.

use super::Settings;
use super::facts::Facts;
use super::link::Links;
use super::records::Records;
use crate::tree::Unit;
use cssame_source::SourceMap;

/// What is lowered, and what is known of it.
pub struct Input<'a> {
    pub sources: &'a SourceMap,
    pub units: &'a [&'a Unit],
    pub settings: &'a Settings,
    pub links: Links,
    pub records: Records,
    pub facts: Facts,
}

impl<'a> Input<'a> {
    /// The unit of that number.
    pub fn unit(&self, number: u32) -> &'a Unit {
        self.units[number as usize]
    }
}

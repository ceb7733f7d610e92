//! Places: positions at which the text accesses a variable.
//!
//! **Input**: a program. **Output**: [`Places`], which maps places to accesses and accesses to places. A [`PlacePair`] is the
//! pair of places of a race.
//!
//! **Algorithm**: accesses whose names stand at the same position are one place: `x += 1` reads and writes there. Copies that the
//! front end makes, such as the condition of a loop, have the same text.
//!
//! **Soundness and limits**: initial definitions are not accesses, and have no place. Places are numbered in text order.

use cssame_ir::{Access, DefinitionId, Program, ReadId, SymbolId};
use cssame_source::Span;
use cssame_source::arena::{Arena, id};
use rustc_hash::FxHashMap;

id! {
    /// A place.
    PlaceId
}

/// Where the text accesses a variable.
#[derive(Clone, Debug)]
pub struct Place {
    /// The name of the variable there.
    pub span: Span,
    /// What happens there, sorted.
    pub accesses: Vec<Access>,
}

/// Two places in text order; both may be one.
pub type PlacePair = [PlaceId; 2];

/// The places of a program.
#[derive(Clone, Debug)]
pub struct Places {
    /// In text order.
    pub list: Arena<PlaceId, Place>,
    of_read: Vec<Option<PlaceId>>,
    of_definition: Vec<Option<PlaceId>>,
}

impl Places {
    /// The places of a program.
    #[must_use]
    pub fn new(program: &Program) -> Places {
        let reads = program.reads.entries().map(|(read, _)| Access::Read(read));
        let definitions = program.definitions.entries().map(|(definition, _)| Access::Write(definition));
        let mut by_span: FxHashMap<(Span, SymbolId), Vec<Access>> = FxHashMap::default();
        for access in reads.chain(definitions).filter(|access| !access.is_initial(program)) {
            by_span.entry((access.span(program), access.symbol(program))).or_default().push(access);
        }
        let mut sorted: Vec<_> = by_span.into_iter().collect();
        sorted.sort_unstable_by_key(|&(key, _)| key);
        let mut places = Places {
            list: Arena::default(),
            of_read: vec![None; program.reads.len()],
            of_definition: vec![None; program.definitions.len()],
        };
        for ((span, _), mut accesses) in sorted {
            accesses.sort_unstable();
            let place = places.list.push(Place { span, accesses });
            for &access in &places.list[place].accesses {
                match access {
                    Access::Read(read) => places.of_read[read.index()] = Some(place),
                    Access::Write(definition) => places.of_definition[definition.index()] = Some(place),
                }
            }
        }
        places
    }

    /// The place of an access; none for an initial definition.
    #[must_use]
    pub fn of(&self, access: Access) -> Option<PlaceId> {
        match access {
            Access::Read(read) => self.of_read.get(ReadId::index(read)).copied().flatten(),
            Access::Write(definition) => self.of_definition.get(DefinitionId::index(definition)).copied().flatten(),
        }
    }

    /// The places of two accesses, and whether their order was turned round.
    #[must_use]
    pub fn pair(&self, accesses: [Access; 2]) -> Option<(PlacePair, bool)> {
        let (first, second) = (self.of(accesses[0])?, self.of(accesses[1])?);
        Some(if second < first { ([second, first], true) } else { ([first, second], false) })
    }
}

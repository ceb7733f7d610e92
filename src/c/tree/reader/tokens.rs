//! Places of tokens: what the parser takes for positions are numbers of tokens.
//!
//! A token out of a macro has two places, where it is spelled and where the macro is used, and the parser keeps one. So each
//! token gets a range of its own in a text that exists nowhere, the program behind the preprocessor, and the span of a node
//! names its first and its last token. [`Tokens::place`] leads from there to both places.

use super::sources::Mirror;
use crate::tree::place::Place;
use cssame_source::Span;
use rucc_diag::Span as ReadSpan;
use rucc_lex::PpToken;
use rucc_pp::Tok;
use std::cell::Cell;

/// The tokens of a unit with their places.
pub struct Tokens {
    /// Where each begins, in the text behind the preprocessor; ascending.
    starts: Vec<u32>,
    places: Vec<Place>,
    /// The token of the last question: the next one is mostly near.
    last: Cell<usize>,
}

/// The program is too long for positions of 32 bits.
pub struct TooLong;

impl Tokens {
    /// Gives each token a range, and puts it into `out` as the parser takes it. `fallback` is the place of what stands nowhere.
    pub fn new(read: &[Tok], mirror: &Mirror, fallback: Span, out: &mut Vec<PpToken>) -> Result<Tokens, TooLong> {
        let mut tokens = Tokens {
            starts: Vec::with_capacity(read.len()),
            places: Vec::with_capacity(read.len()),
            last: Cell::new(0),
        };
        let mut next = 1_u32;
        let mut before = Place::plain(fallback);
        for token in read {
            let length = if token.span.is_dummy() { 1 } else { token.span.len().max(1) };
            let end = next.checked_add(length).filter(|&end| end < u32::MAX - 1).ok_or(TooLong)?;
            before = place_of(token, mirror).unwrap_or(before);
            tokens.starts.push(next);
            tokens.places.push(before);
            let span = ReadSpan::new(next, end);
            out.push(PpToken { kind: token.kind, flags: token.flags, value: token.value, span });
            next = end + 1;
        }
        Ok(tokens)
    }

    /// The token that a position belongs to.
    fn token_at(&self, position: u32) -> usize {
        let holds = |index: usize| {
            self.starts[index] <= position && self.starts.get(index + 1).is_none_or(|&next| position < next)
        };
        let last = self.last.get();
        let near = (last..self.starts.len().min(last + 4)).chain(last.saturating_sub(2)..last).find(|&at| holds(at));
        let found = near.unwrap_or_else(|| self.starts.partition_point(|&at| at <= position).saturating_sub(1));
        self.last.set(found);
        found
    }

    /// The place of a node: from where its first token is spelled to where its last one is, if that lies behind in the same text.
    pub fn place(&self, span: ReadSpan) -> Option<Place> {
        if span.is_dummy() || self.starts.is_empty() {
            return None;
        }
        let first = self.token_at(span.lo);
        let start = self.places[first];
        if span.is_empty() {
            let token = start.span;
            let at = token.end.min(token.start + (span.lo - self.starts[first].min(span.lo)));
            return Some(Place { span: Span { start: at, end: at, ..token }, used: start.used });
        }
        let end = self.places[self.token_at(span.hi - 1)];
        Some(Place { span: join(start, end), used: to(start.used, end.used).unwrap_or(start.used) })
    }
}

/// From one span to another one that lies behind it in the same file.
fn to(first: Span, last: Span) -> Option<Span> {
    let is_behind = last.file == first.file && last.start >= first.start && last.end >= first.end;
    is_behind.then(|| first.to(last))
}

/// The text from a first token to a last one, so far as both are spelled in one text: the program, or one use of a macro. From
/// the program to a macro it ends where the macro is used.
fn join(first: Place, last: Place) -> Span {
    let last = match (first.is_from_macro(), last.is_from_macro()) {
        (false, true) => last.used,
        (true, _) if first.used != last.used => first.span,
        _ => last.span,
    };
    to(first.span, last).unwrap_or(first.span)
}

/// The two places of a token; `None` for one that is in no file.
fn place_of(token: &Tok, mirror: &Mirror) -> Option<Place> {
    let spelled = if token.span.is_dummy() { None } else { mirror.span(token.span) };
    let used = if token.expansion.is_dummy() { None } else { mirror.span(token.expansion) };
    match (spelled, used) {
        (Some((span, true)), used) => Some(Place { span, used: used.map_or(span, |(used, _)| used) }),
        (_, Some((used, _))) => Some(Place::plain(used)),
        (Some((span, false)), None) => Some(Place::plain(span)),
        (None, None) => None,
    }
}

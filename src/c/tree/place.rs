//! Where something stands in the text.

use cssame_source::Span;

/// Where something stands: physical bytes, whatever `#line` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Where it is spelled, if that is in a file of the user's; else where the macro is used that it comes from.
    pub span: Span,
    /// Where the outermost macro is used that it comes from; the same as `span` where it comes from none.
    pub used: Span,
}

impl Place {
    /// The place of text that comes from no macro.
    #[must_use]
    pub fn plain(span: Span) -> Place {
        Place { span, used: span }
    }

    /// Whether it comes from a macro that is spelled elsewhere.
    #[must_use]
    pub fn is_from_macro(&self) -> bool {
        self.span != self.used
    }
}

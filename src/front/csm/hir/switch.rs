//! `switch`: labels that are distinct constants, and bodies without accidental fall-through.
//!
//! **Input**: the cases as written. **Output**: [`SwitchCase`]s with the values of their labels, and diagnostics. Each body has
//! its own scope. The form of a body alone decides whether control can reach its end.

use super::completes::can_complete;
use super::habits::with_article;
use super::item::Checker;
use super::{Constant, Expression, Scalar, StatementKind, SwitchCase, SwitchLabel};
use crate::csm::syntax::ast::{self, StmtKind};
use cssame_diagnostics::{Code, Diagnostic};
use cssame_source::Span;
use rustc_hash::FxHashMap;

/// A label by its value: constants of one type; a double is none.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Integer(i64),
    Text(cssame_source::texts::TextId),
    Default,
}

impl<'a> Checker<'a> {
    pub(super) fn switch(&mut self, value: &'a ast::Expr, cases: &'a [ast::Case]) -> StatementKind {
        let value = self.switch_value(value);
        let mut seen: FxHashMap<Key, Span> = FxHashMap::default();
        let mut checked = Vec::with_capacity(cases.len());
        for (at, case) in cases.iter().enumerate() {
            let labels = case.labels.iter().filter_map(|label| self.case_label(label, value.ty, &mut seen)).collect();
            let (statements, falls) = match case.statements.split_last() {
                Some((last, before)) if last.kind == StmtKind::Fallthrough => (before, Some(last.span)),
                _ => (case.statements.as_slice(), None),
            };
            let reported = self.diagnostics.len();
            self.body.switches += 1;
            let body = self.block(statements);
            self.body.switches -= 1;
            let next = cases.get(at + 1).and_then(|next| next.labels.first());
            match (falls, next) {
                (Some(span), None) => self.report(
                    Diagnostic::error(
                        Code::MisplacedStatement,
                        span,
                        "`fallthrough` in the last case",
                        "no case follows",
                    )
                    .with_help("leave it out"),
                ),
                (None, Some(next)) if self.diagnostics.len() == reported && can_complete(&body) => {
                    self.report_fall_through(case, next);
                }
                _ => {}
            }
            checked.push(SwitchCase { labels, body, falls: falls.is_some(), span: case.span });
        }
        StatementKind::Switch { value, cases: checked }
    }

    fn switch_value(&mut self, value: &'a ast::Expr) -> Expression {
        let value = self.expression(value);
        if matches!(value.ty, Scalar::Double | Scalar::Thread) {
            let message =
                format!("a switch needs an int, a long, a bool or a string, this is {}", with_article(value.ty.name()));
            let diagnostic = Diagnostic::error(Code::WrongType, value.span, message, "cannot be switched on");
            self.report(if value.ty == Scalar::Double {
                diagnostic.with_help("compare by `if`, or convert it: `switch ((int) …)`")
            } else {
                diagnostic
            });
            return Expression::error(value.span);
        }
        value
    }

    /// The value of a label; `None` after an error was reported.
    fn case_label(
        &mut self,
        label: &'a ast::CaseLabel,
        ty: Scalar,
        seen: &mut FxHashMap<Key, Span>,
    ) -> Option<SwitchLabel> {
        let value = match &label.value {
            Some(value) => Some(self.constant(value, ty)?),
            None => None,
        };
        let key = match value {
            None => Key::Default,
            Some(Constant::String(text)) => Key::Text(text),
            Some(value) => Key::Integer(value.integer()?),
        };
        if let Some(&earlier) = seen.get(&key) {
            let message = match key {
                Key::Default => "a switch has two `default`".to_owned(),
                Key::Text(text) => format!("two labels of the switch are \"{}\"", self.program.texts.get(text)),
                Key::Integer(_) if ty == Scalar::Bool => {
                    format!("two labels of the switch are {}", key == Key::Integer(1))
                }
                Key::Integer(value) => format!("two labels of the switch are {value}"),
            };
            self.report(
                Diagnostic::error(Code::BadCase, label.span, message, "never reached")
                    .with_label(earlier, "the first one")
                    .with_help("leave one of them out, or change its value"),
            );
            return None;
        }
        seen.insert(key, label.span);
        Some(SwitchLabel { value, span: label.span })
    }

    fn report_fall_through(&mut self, case: &ast::Case, next: &ast::CaseLabel) {
        let end = case.statements.last().map_or(case.span, |last| last.span);
        let end = Span { start: end.end.saturating_sub(1).max(end.start), ..end };
        self.report(
            Diagnostic::error(Code::FallThrough, end, "this case runs into the next one", "control can come here")
                .with_label(next.span, "and would continue here")
                .with_help("end it with `break;`, or with `fallthrough;` if the next case is meant to run too"),
        );
    }

    /// `fallthrough` anywhere but at the end of a case.
    pub(super) fn misplaced_fallthrough(&mut self, span: Span) -> StatementKind {
        self.report(
            Diagnostic::error(Code::MisplacedStatement, span, "`fallthrough` within a case", "not the end of a case")
                .with_help("make it the last statement of a case, outside of other statements"),
        );
        StatementKind::Skip
    }
}

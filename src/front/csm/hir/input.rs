//! Inputs: constants from the command line, or ranges of values that an exploration tries one by one.
//!
//! **Input**: the declarations of inputs, and their settings on the command line: a value, a range `0..10`, or `any`. **Output**:
//! a constant for each input with a single value. For an input with a range, a global that `main` sets once, before anything
//! else, by `choose`.
//!
//! **Soundness and limits**: a range is a range of `int` or `long` within the range of `int`, or `any` for a `bool` or for an
//! input whose declaration has a range. Constant expressions, such as the size of an array, cannot depend on an input with a
//! range.

use super::item::Checker;
use super::scope::Meaning;
use super::{
    Constant, Expression, ExpressionKind, Place, Root, Scalar, Statement, StatementKind, Type, Variable, VariableKind,
};
use crate::csm::syntax::ast::{self, BinaryOp};
use cssame_diagnostics::{Code, Diagnostic, Severity};
use cssame_source::Span;
use cssame_source::names::NameKind;

/// What the command line says of an input of which nothing is to be known: no text of a user has it.
pub const UNKNOWN: &str = "\0unknown";

/// Both ends are values.
type Range = (i32, i32);

/// The values of an input.
enum Values {
    One(Constant),
    Range(Range),
}

impl<'a> Checker<'a> {
    pub(super) fn declare_input(&mut self, input: &'a ast::Input) {
        let Type::Scalar(ty) = self.resolve_type(&input.ty, None) else {
            self.report(Diagnostic::error(
                Code::UnsupportedType,
                input.ty.span,
                "an input must have a data type",
                "not int, long, bool, double or string",
            ));
            return;
        };
        let name = self.intern(&input.name.name);
        let declared = input.range.as_ref().and_then(|range| self.declared_range(input, ty, range));
        let mut values = self.constant(&input.value, ty).map(Values::One);
        if let (Some(Values::One(value)), Some(range)) = (&values, declared)
            && !holds(range, *value)
        {
            let label = format!("not from {} to {}", range.0, range.1);
            let message = format!("the value of input `{}` is outside its range", input.name.name);
            self.report(Diagnostic::error(Code::BadSize, input.value.span, message, label));
        }
        let given = self.inputs.iter().rev().find(|(key, _)| *key == input.name.name).map(|(_, value)| value.clone());
        // Nothing can be chosen of a string.
        let is_known = |text: &String| text != UNKNOWN || ty != Scalar::String;
        if let Some(text) = given.filter(is_known) {
            // What is wrong on the command line is reported alone: the rest is checked with the declared value.
            values = self.given(input, ty, declared, &text).or(values);
        }
        self.input_names.push(name);
        let meaning = match values {
            Some(Values::Range(range)) => self.ranged_input(input, ty, range),
            Some(Values::One(value)) => Meaning::Input(value),
            None => Meaning::Input(Constant::zero(ty, self.empty)),
        };
        self.note(input.name.span, input.name.span, NameKind::Constant);
        self.declare_global_name(name, meaning, input.name.span);
    }

    /// The range of a declaration.
    fn declared_range(
        &mut self,
        input: &ast::Input,
        ty: Scalar,
        (low, high): &(ast::Expr, ast::Expr),
    ) -> Option<Range> {
        let span = Span { end: high.span.end, ..low.span };
        if !matches!(ty, Scalar::Int | Scalar::Long) {
            let message = format!("input `{}` of type {} has no range", input.name.name, ty.name());
            let diagnostic = Diagnostic::error(Code::WrongType, span, message, "only an int or a long has a range");
            self.report(diagnostic.with_help("leave it out; `--input NAME=any` tries both values of a bool"));
            return None;
        }
        let low = self.constant(low, Scalar::Int).and_then(Constant::integer)?;
        let high = self.constant(high, Scalar::Int).and_then(Constant::integer)?;
        if low > high {
            let diagnostic =
                Diagnostic::error(Code::BadSize, span, "the range holds no value", "low end above high end");
            self.report(diagnostic.with_help("write the smaller number first"));
            return None;
        }
        Some((low as i32, high as i32))
    }

    /// What the command line gives; `None` after an error was reported.
    fn given(&mut self, input: &ast::Input, ty: Scalar, declared: Option<Range>, text: &str) -> Option<Values> {
        let name = &input.name.name;
        if text == UNKNOWN {
            return Some(Values::Range(declared.unwrap_or((0, 1))));
        }
        let integer = matches!(ty, Scalar::Int | Scalar::Long);
        let values = match (text, text.split_once("..")) {
            ("any", _) if ty == Scalar::Bool => Some(Values::Range((0, 1))),
            ("any", _) if declared.is_some() => declared.map(Values::Range),
            ("any", _) if integer => {
                let message = format!("input `{name}` cannot be `any`: its declaration has no range");
                let help =
                    format!("give a range, such as `--input {name}=0..8` or `input {} {name} = 0 in 0..8;`", ty.name());
                self.report_given(input, message, help);
                return None;
            }
            (_, Some((low, high))) if integer => range_of(low, high).map(Values::Range),
            _ => self.parse_input(text, ty).map(Values::One),
        };
        let Some(values) = values else {
            let message = format!("input `{name}` is of type {}, and `{text}` is not", ty.name());
            let ranges = if integer { ", or as a range `0..8`, both ends included" } else { "" };
            self.report_given(input, message, format!("give it as `--input {name}=VALUE`{ranges}"));
            return None;
        };
        let within = |range: Range| match &values {
            Values::One(value) => holds(range, *value),
            Values::Range((low, high)) => range.0 <= *low && *high <= range.1,
        };
        if let Some((low, high)) = declared.filter(|&range| !within(range)) {
            let message = format!("input `{name}` is from {low} to {high}, and `{text}` is not within that");
            self.report_given(input, message, format!("give a value within it, or `--input {name}=any`"));
            return None;
        }
        Some(values)
    }

    fn report_given(&mut self, input: &ast::Input, message: String, help: String) {
        let diagnostic = Diagnostic::error(Code::UnknownInput, input.name.span, message, "declared here");
        self.report(diagnostic.with_help(help));
    }

    /// Declares an input that has a range, and what sets it at the start.
    fn ranged_input(&mut self, input: &ast::Input, ty: Scalar, (low, high): Range) -> Meaning {
        let (name, span) = (self.intern(&input.name.name), input.name.span);
        let variable = self.program.variables.push(Variable {
            name,
            span,
            ty: Type::Scalar(ty),
            kind: VariableKind::Global,
            initial: vec![Constant::zero(ty, self.empty)],
            captured: false,
            atomic: false,
        });
        let end = |value| Box::new(Expression::of(Constant::Int(value), span));
        let chosen = Expression { kind: ExpressionKind::Choose(end(low), end(high)), ty: Scalar::Int, span };
        let value = match ty {
            Scalar::Int => chosen,
            Scalar::Bool => {
                let both = (Box::new(chosen), end(0));
                let kind = ExpressionKind::Binary(BinaryOp::NotEqual, Scalar::Int, both.0, both.1);
                Expression { kind, ty, span }
            }
            _ => Expression { kind: ExpressionKind::Convert(Box::new(chosen)), ty, span },
        };
        let kind = StatementKind::Declare { variable, values: vec![(0, value)] };
        self.ranged_inputs.push((variable, Statement { kind, span }));
        Meaning::Variable(variable)
    }

    /// Whether a place is an input that has a range.
    pub(super) fn is_ranged_input(&self, place: &Place) -> bool {
        matches!(place.root, Root::Variable(of) if self.ranged_inputs.iter().any(|(variable, _)| *variable == of))
    }

    /// The input with a range that an expression reads first.
    pub(super) fn ranged_input_in(&self, value: &Expression) -> Option<String> {
        let mut work = vec![value];
        while let Some(value) = work.pop() {
            match &value.kind {
                ExpressionKind::Read(place) if self.is_ranged_input(place) => {
                    return Some(self.program.texts.get(place.name).to_owned());
                }
                ExpressionKind::Unary(_, one) | ExpressionKind::Convert(one) => work.push(one),
                ExpressionKind::Binary(_, _, left, right) => work.extend([&**right, &**left]),
                ExpressionKind::Conditional(condition, yes, no) => work.extend([&**no, &**yes, &**condition]),
                _ => {}
            }
        }
        None
    }

    fn parse_input(&mut self, text: &str, ty: Scalar) -> Option<Constant> {
        match ty {
            Scalar::Int => text.parse().ok().map(Constant::Int),
            Scalar::Long => text.parse().ok().map(Constant::Long),
            Scalar::Bool => text.parse().ok().map(Constant::Bool),
            Scalar::Double => text.parse().ok().map(Constant::Double),
            Scalar::String => Some(Constant::String(self.intern(text))),
            Scalar::Thread | Scalar::Error => None,
        }
    }

    /// What is said of an input that is none, and how it is mended.
    fn unknown_input(&self, name: &str) -> (String, String) {
        if name.starts_with('-') {
            let message = format!("`{name}` is an option for C, and this program is not in C");
            return (message, "leave it out".to_owned());
        }
        let names: Vec<&str> = self.input_names.iter().map(|&id| self.program.texts.get(id)).collect();
        let help = if names.is_empty() {
            "the program declares no input".to_owned()
        } else {
            format!("its inputs are: {}", names.join(", "))
        };
        (format!("the program has no input `{name}`"), help)
    }

    pub(super) fn report_unknown_inputs(&mut self) {
        for (name, _) in self.inputs {
            let known = self.program.texts.find(name).is_some_and(|id| self.input_names.contains(&id));
            if !known {
                let (message, help) = self.unknown_input(name);
                self.diagnostics
                    .push(Diagnostic::general(Code::UnknownInput, Severity::Error, message).with_help(help));
            }
        }
    }
}

fn holds((low, high): Range, value: Constant) -> bool {
    value.integer().is_some_and(|value| (i64::from(low)..=i64::from(high)).contains(&value))
}

/// Both ends as the command line gives them.
fn range_of(low: &str, high: &str) -> Option<Range> {
    let range: Range = (low.trim().parse().ok()?, high.trim().parse().ok()?);
    (range.0 <= range.1).then_some(range)
}

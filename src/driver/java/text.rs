//! Names, literals and comments in generated Java.
//!
//! In: names and constants of the program. Out: identifiers, literals and comments that Java accepts. Text of the program is
//! data: no part of it can end a string or a comment, and a Unicode escape in it has no meaning.

use cssame_ir::{ScalarType, Texts, Value};
use std::fmt::Write;

/// Words that are no identifiers in Java, or not everywhere.
const KEYWORDS: &str = "\
    abstract assert boolean break byte case catch char class const continue default do double else enum \
    extends false final finally float for goto if implements import instanceof int interface long native \
    new non null package permits private protected public record return sealed short static strictfp \
    super switch synchronized this throw throws transient true try var void volatile while yield";

/// Names that the generated code needs itself.
const OWN: &str = "\
    Array AssertionError Boolean Cell Choice Condition Double Event Failure Handle Integer Lock Long \
    Object Order Output Phaser Program RwLock Run Semaphore String Text Threads Waiter ATOMIC main reset waiting \
    cssame java";

/// Methods of every object.
const METHODS: &str = "\
    clone equals finalize getClass hashCode notify notifyAll toString wait";

/// An identifier like a name of the program.
pub(crate) fn identifier(text: &str) -> String {
    let letter = |each: char| if each.is_ascii_alphanumeric() { each } else { '_' };
    let mut name = String::with_capacity(text.len());
    for each in text.chars().map(letter) {
        if each != '_' || !name.ends_with('_') {
            name.push(each);
        }
    }
    let bare = name.trim_end_matches('_');
    let name = if bare.is_empty() { "v".to_owned() } else { bare.to_owned() };
    let name = if name.starts_with(|first: char| first.is_ascii_digit()) { format!("v{name}") } else { name };
    word(&name)
}

/// A name that is an identifier but for its meaning in Java. It keeps all its letters: of tests and programs that differ by an
/// underscore alone each has its own.
pub(super) fn word(name: &str) -> String {
    let is_taken = [KEYWORDS, OWN, METHODS].iter().any(|words| words.split_whitespace().any(|word| word == name));
    if is_taken || is_class_of_tests(name) { format!("{name}_") } else { name.to_owned() }
}

/// Whether a class of tests may have that name, and stands in the same package: `FuturesTest`, `Futures2Test`.
fn is_class_of_tests(name: &str) -> bool {
    let number = name.strip_prefix("Futures").and_then(|rest| rest.strip_suffix("Test"));
    number.is_some_and(|number| number.bytes().all(|digit| digit.is_ascii_digit()))
}

/// Characters of a literal at most: Java bounds it by 65,535 bytes, and each takes six of them at most.
const LITERAL: usize = 10_000;

/// A string: a literal, or several that are put together when the program runs.
pub(crate) fn string(text: &str) -> String {
    let mut literal = "\"".to_owned();
    for (number, each) in text.chars().enumerate() {
        if number > 0 && number % LITERAL == 0 {
            literal.push_str(if number == LITERAL { "\".concat(\"" } else { "\").concat(\"" });
        }
        push_char(&mut literal, each);
    }
    literal + if text.chars().nth(LITERAL).is_some() { "\")" } else { "\"" }
}

/// A character in a literal.
fn push_char(literal: &mut String, each: char) {
    match each {
        '"' | '\\' => literal.extend(['\\', each]),
        '\n' => literal.push_str("\\n"),
        '\r' => literal.push_str("\\r"),
        '\t' => literal.push_str("\\t"),
        ' '..='~' => literal.push(each),
        // Octal: a Unicode escape of a line end would end the line before the string is read.
        '\0'..='\u{ff}' => literal.push_str(&format!("\\{:03o}", each as u32)),
        _ => each.encode_utf16(&mut [0; 2]).iter().for_each(|unit| push_unit(literal, *unit)),
    }
}

/// A Unicode escape.
pub(super) fn push_unit(text: &mut String, unit: u16) {
    let _ = write!(text, "\\u{unit:04x}");
}

/// Text of the program, or a name of a file, in a comment.
pub(crate) fn comment(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for each in text.chars() {
        match each {
            '"' | '\'' | '\t' => shown.push(each),
            // A Unicode escape counts in comments too.
            '\\' => shown.push_str("\\ "),
            // An end of a comment, or a tag of its documentation.
            '/' if shown.ends_with('*') => shown.push_str(" /"),
            '@' if shown.ends_with(['{', ' ']) || shown.is_empty() => shown.push_str("(at)"),
            _ => shown.extend(each.escape_debug()),
        }
    }
    shown.replace("\\u{", "U+{")
}

/// The type of data.
pub(crate) fn type_name(ty: ScalarType) -> &'static str {
    match ty {
        ScalarType::Int => "int",
        ScalarType::Long => "long",
        ScalarType::Bool => "boolean",
        ScalarType::Double => "double",
        ScalarType::String => "String",
        ScalarType::Thread => "Handle",
        _ => "long",
    }
}

/// The class of data in a cell or an array.
pub(super) fn boxed_name(ty: ScalarType) -> &'static str {
    match ty {
        ScalarType::Int => "Integer",
        ScalarType::Long => "Long",
        ScalarType::Bool => "Boolean",
        ScalarType::Double => "Double",
        ScalarType::String => "String",
        ScalarType::Thread => "Handle",
        _ => "Long",
    }
}

/// What a variable begins with.
pub(crate) fn default_value(ty: ScalarType) -> &'static str {
    match ty {
        ScalarType::Int => "0",
        ScalarType::Long => "0L",
        ScalarType::Bool => "false",
        ScalarType::Double => "0.0",
        ScalarType::String => "\"\"",
        ScalarType::Thread => "null",
        _ => "0L",
    }
}

/// A literal.
pub(crate) fn literal(texts: &Texts, value: Value) -> String {
    match value {
        Value::Int(value) => value.to_string(),
        Value::Long(value) => format!("{value}L"),
        Value::Bool(value) => value.to_string(),
        Value::Double(value) if value.is_finite() => format!("{value:?}"),
        Value::Double(value) => format!("Double.longBitsToDouble({:#x}L)", value.to_bits()),
        Value::String(text) => string(texts.get(text)),
        Value::NoThread => "(Handle) null".to_owned(),
        Value::Integer(..) | Value::Pointer(_) => format!("{}L", value.bits()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_letters() {
        assert_eq!(identifier("refreshSecs"), "refreshSecs");
        assert_eq!(identifier("parfor@7"), "parfor_7");
        assert_eq!(identifier("assert"), "assert_");
        assert_eq!(identifier("_"), "v");
        assert_eq!(identifier("2nd"), "v2nd");
        assert_eq!(identifier("Futures12Test"), "Futures12Test_");
        assert_eq!([word("a_before_b_"), word("int")], ["a_before_b_", "int_"]);
    }

    #[test]
    fn strings_and_comments_hold_any_text() {
        assert_eq!(string("a\"b\\u0022\n\u{1}ü€\u{1f600}"), "\"a\\\"b\\\\u0022\\n\\001\\374\\u20ac\\ud83d\\ude00\"");
        let [one, two, three] = [LITERAL, LITERAL + 1, 2 * LITERAL + 1].map(|length| string(&"x".repeat(length)));
        assert!(!one.contains("concat") && two.ends_with("x\".concat(\"x\")") && three.ends_with("x\").concat(\"x\")"));
        assert_eq!(comment("x */ y \\u002a/ @see"), "x * / y \\ u002a/ (at)see");
        assert_eq!(comment("a\u{202e}b\n"), "aU+{202e}b\\n");
    }
}

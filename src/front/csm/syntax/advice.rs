//! What people who write C, C++ or Java take for granted, and how it is said here.
//!
//! **Input**: a token that cannot stand where it does, the token before it, and what was expected. **Output**: one sentence
//! of help, or nothing. The words of other languages are ordinary names here, so that it is mostly the token *behind* them
//! that does not fit.

use super::expected::Expected;

/// What may help where `found`, in quotes, stands behind `before`.
pub(crate) fn advice(found: &str, before: &str, expected: &Expected) -> Option<&'static str> {
    of_tokens(found, before, expected).or_else(|| of_word(before)).or_else(|| of_word(found.trim_matches('`')))
}

fn of_tokens(found: &str, before: &str, expected: &Expected) -> Option<&'static str> {
    match found {
        "`=`" if expected.operator => Some("compare with `==`; an assignment is a statement of its own"),
        "`==`" if expected.assignment => Some("assign with `=`"),
        "`++`" | "`--`" | "`+=`" | "`-=`" | "`*=`" | "`/=`" | "`%=`" if expected.operator || expected.expression => {
            Some("an assignment is a statement of its own")
        }
        "`case`" | "`default`" if expected.phrase == "`{`" => Some("the cases of a switch stand in braces"),
        "`case`" | "`default`" => Some("a case stands directly in the braces of its switch, not in a statement there"),
        "`:`" if before == "std" => {
            Some("names have no `std::` in front: `lock`, `sem`, `barrier`, `thread` are types here")
        }
        "`-`" if expected.assignment => {
            Some("an expression alone is no statement; the member of an object is `object.member`")
        }
        "`:`" if expected.assignment => Some("a label names a thread, and stands only in `cobegin … coend`"),
        "`;`" if expected.assignment => Some("an expression alone is no statement"),
        "`;`" if expected.phrase == "`{`" => Some(
            "a function has a body, and needs no declaration before; one whose body is not visible is declared with \
             `extern`, and an object whose constructor takes nothing without `()`",
        ),
        "`const`" if before == "(" || before == "," => {
            Some("leave `const` out: a parameter that takes a value is a copy of its own")
        }
        "`*`" if names(expected) => Some("there are no pointers: objects are passed by reference as they are"),
        "`&`" if names(expected) || expected.expression => {
            Some("there are no references and no addresses: objects are passed by reference as they are")
        }
        "`>`" if before == "-" => Some("there are no pointers: write `object.member`"),
        "`~`" => Some("there are no destructors: an object lives as long as its declaration is known"),
        _ => None,
    }
}

/// Whether a declared name could stand there.
fn names(expected: &Expected) -> bool {
    expected.phrase.contains("a name") || expected.assignment
}

/// What is written instead of a word of another language.
pub(crate) fn of_word(word: &str) -> Option<&'static str> {
    Some(match word {
        "static" => "leave `static` out: globals are known in the whole file, and locals begin anew each time",
        "unsigned" | "signed" | "short" => "the integers are `int` and `long`, both signed",
        "volatile" | "_Atomic" => "write `atomic` before the type of what threads may use without synchronisation",
        "final" | "constexpr" => "write `const` before the type",
        "new" => "there is no heap: an object is declared, `Queue q(3);`, and a variable of a class is the object",
        "struct" | "union" => "write `class Name { … }`; its members are public unless it says otherwise",
        "typedef" | "using" | "template" | "import" | "package" | "namespace" | "goto" | "try" | "catch" | "throw"
        | "interface" | "extends" | "implements" | "virtual" | "friend" | "delete" => {
            "the language has nothing of that kind"
        }
        "sizeof" => "the number of elements of an array `t` is `length(t)`; sizes in bytes do not exist",
        "auto" | "var" | "let" => "write the type: `int x = 1;`",
        "inline" | "register" | "protected" | "mutable" | "explicit" => "leave the word out",
        "finally" => "`synchronized (L) { … }` gives the lock back on every way out",
        _ => return None,
    })
}

//! Constructs that users of C, C++ or Java expect, and their equivalents in this language.
//!
//! **Input**: an unexpected token, the tokens before and after it, and the expected ones. **Output**: one sentence of help, or
//! nothing. The keywords of other languages are ordinary names here, so usually the token *after* them is the unexpected one.

use super::expected::Expected;
use std::borrow::Cow;

/// The text around a token that cannot stand where it does.
pub(crate) struct Around<'source> {
    /// The token before it.
    pub(crate) before: &'source str,
    /// The word before that one; empty where there is none.
    pub(crate) earlier: &'source str,
    /// The text from the token on.
    pub(crate) rest: &'source str,
}

/// What may help where `found` stands, a token in quotes.
pub(crate) fn advice(found: &str, around: &Around<'_>, expected: &Expected) -> Option<Cow<'static, str>> {
    if let Some(qualified) = around.rest.strip_prefix("::") {
        return Some(of_qualified(qualified));
    }
    of_threads(found, around)
        .or_else(|| of_tokens(found, around.before, expected))
        .or_else(|| of_word(around.before))
        .or_else(|| of_word(found.trim_matches('`')))
        .map(Cow::Borrowed)
}

/// Words that other languages put before the body of a thread, or of several.
const BLOCKS: [&str; 13] = [
    "thread",
    "Thread",
    "process",
    "proc",
    "task",
    "parallel",
    "par",
    "parbegin",
    "fork",
    "concurrent",
    "async",
    "go",
    "cobegin",
];

/// What may help where threads are written as in another language; also where only a `;` is missing.
pub(crate) fn of_threads(found: &str, around: &Around<'_>) -> Option<&'static str> {
    match found {
        "`{`" | "`=`" if around.before == "spawn" || around.earlier == "spawn" => Some(
            "`spawn` starts a thread that runs a call: put the statements into a function, `void f() { … }`, and write \
             `spawn f();`",
        ),
        "`{`" if BLOCKS.contains(&around.before) || BLOCKS.contains(&around.earlier) => {
            Some("threads that run side by side are the arms of one statement: `cobegin  T1: { … }  T2: { … }  coend`")
        }
        "`||`" => {
            Some("the threads of a `cobegin` are told apart by their labels: `T1: { … }  T2: { … }`, without `||`")
        }
        "`<`" if around.before == "atomic" => Some("leave the brackets out: `atomic int x = 0;`"),
        _ => None,
    }
}

/// What may help where a name stands in a namespace; the text begins behind the `::`.
fn of_qualified(text: &str) -> Cow<'static, str> {
    let name = text.split(|each: char| !each.is_alphanumeric() && each != '_').next().unwrap_or("");
    match (name, type_meant(name)) {
        ("atomic", _) => "there are no namespaces and no templates: write `atomic int x = 0;`".into(),
        (_, Some(meant)) => format!("there are no namespaces, and what you mean is called `{meant}` here").into(),
        _ => "there are no namespaces: leave out what stands before the `::`, and the `::`".into(),
    }
}

/// The type that somebody means who writes a name of another language.
pub(crate) fn type_meant(name: &str) -> Option<&'static str> {
    Some(match name {
        "mutex" | "Mutex" | "pthread_mutex_t" | "mtx_t" | "Lock" | "ReentrantLock" => "lock",
        "pthread_rwlock_t" | "shared_mutex" | "RwLock" | "ReadWriteLock" | "ReentrantReadWriteLock" => "rwlock",
        "pthread_cond_t" | "cnd_t" | "condition_variable" | "condition" | "Condition" => "cond",
        "sem_t" | "semaphore" | "Semaphore" | "counting_semaphore" => "sem",
        "pthread_barrier_t" | "Barrier" | "CyclicBarrier" => "barrier",
        "Event" | "CountDownLatch" => "event",
        "pthread_t" | "thrd_t" | "jthread" | "Thread" => "thread",
        "unsigned" | "signed" | "short" | "char" | "byte" | "Integer" | "int32_t" | "int16_t" | "int8_t"
        | "uint8_t" | "i32" => "int",
        "int64_t" | "uint64_t" | "uint32_t" | "size_t" | "Long" | "i64" => "long",
        "float" | "Double" | "Float" | "f64" => "double",
        "boolean" | "Boolean" | "_Bool" => "bool",
        "String" => "string",
        "atomic_int" | "atomic_uint" | "AtomicInteger" | "AtomicI32" => "atomic int",
        "atomic_long" | "AtomicLong" | "AtomicI64" => "atomic long",
        "atomic_bool" | "AtomicBoolean" | "AtomicBool" | "atomic_flag" => "atomic bool",
        _ => return None,
    })
}

fn of_tokens(found: &str, before: &str, expected: &Expected) -> Option<&'static str> {
    match found {
        "`=`" if expected.operator => Some("compare with `==`; an assignment is a statement of its own"),
        "`==`" if expected.assignment => Some("assign with `=`"),
        "`++`" | "`--`" | "`+=`" | "`-=`" | "`*=`" | "`/=`" | "`%=`" if expected.operator || expected.expression => {
            Some("an assignment is a statement of its own")
        }
        "`case`" | "`default`" if expected.phrase == "`{`" => Some("write the cases of a switch in braces"),
        "`case`" | "`default`" => Some("write the case directly in the braces of its switch, not in a statement there"),
        "`-`" if expected.assignment => {
            Some("an expression alone is not a statement; the member of an object is `object.member`")
        }
        "`:`" if expected.assignment => Some("a label names a thread, and is possible only in `cobegin … coend`"),
        "`;`" if expected.assignment => Some("an expression alone is not a statement"),
        "`;`" if expected.phrase == "`{`" => Some(
            "write the body of the function: it needs no declaration before. Declare a function without a visible \
             body with `extern`, and an object whose constructor takes no arguments without `()`",
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
        "new" | "malloc" | "calloc" | "free" => {
            "there is no heap: an object is declared, `Queue q(3);`, and a variable of a class is the object"
        }
        "struct" | "union" => "write `class Name { … }`; its members are public unless it says otherwise",
        "typedef" | "using" | "template" | "import" | "package" | "namespace" | "goto" | "try" | "catch" | "throw"
        | "interface" | "extends" | "implements" | "virtual" | "friend" | "delete" => {
            "the language has nothing of that kind"
        }
        "sizeof" => "the number of elements of an array `t` is `length(t)`; sizes in bytes do not exist",
        "auto" | "var" | "let" => "write the type: `int x = 1;`",
        "inline" | "register" | "protected" | "mutable" | "explicit" => "leave the word out",
        "NULL" | "nullptr" | "null" | "None" | "nil" => {
            "there are no pointers: let a value that cannot occur, such as -1, stand for nothing"
        }
        "True" | "TRUE" | "False" | "FALSE" => "the truth values are `true` and `false`",
        "self" => "the object itself is `this`",
        "finally" => "`synchronized (L) { … }` releases the lock on every way out",
        _ => return None,
    })
}

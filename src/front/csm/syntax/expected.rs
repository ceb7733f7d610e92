//! A short description of the tokens that were expected in place of an unexpected one.
//!
//! In: the names of terminals as `lalrpop` gives them. Out: a phrase such as "an expression or `)`". One word names a group of
//! related terminals: those that begin an expression, the binary operators, the types, and so on.

/// What the parser expected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Expected {
    /// "`;`, `,` or an operator"; empty where nothing better than "something else" can be said.
    pub(crate) phrase: String,
    /// Whether a binary operator could stand here: the token follows a complete operand.
    pub(crate) operator: bool,
    /// Whether an expression could stand here.
    pub(crate) expression: bool,
    /// Whether an assignment operator could stand here: the token follows the first operand of a statement.
    pub(crate) assignment: bool,
}

/// The most alternatives that a phrase names.
const MAX_WORDS: usize = 5;

/// If the first terminal is expected, all listed ones are replaced by the word.
struct Group {
    witness: &'static str,
    word: &'static str,
    members: &'static [&'static str],
}

const GROUPS: &[Group] = &[
    Group {
        witness: "while",
        word: "a statement",
        members: &[
            "identifier",
            "int",
            "long",
            "bool",
            "double",
            "string",
            "void",
            "class",
            "input",
            "extern",
            "cobegin",
            "parfor",
            "synchronized",
            "atomic",
            "const",
            "enum",
            "switch",
            "fallthrough",
            "reentrant",
            "if",
            "while",
            "do",
            "for",
            "break",
            "continue",
            "return",
            "spawn",
            "skip",
            "this",
            "{",
            ";",
            "++",
            "--",
        ],
    },
    Group {
        witness: "integer",
        word: "an expression",
        members: &[
            "identifier",
            "integer",
            "double literal",
            "string literal",
            "true",
            "false",
            "this",
            "(",
            "-",
            "!",
            "~",
            "spawn",
        ],
    },
    Group {
        witness: "+=",
        word: "an assignment",
        members: &["=", "+=", "-=", "*=", "/=", "%=", "++", "--", "[", ".", "identifier", ":"],
    },
    Group {
        witness: "void",
        word: "a type",
        members: &["identifier", "int", "long", "bool", "double", "string", "void", "reentrant"],
    },
    Group {
        witness: "*",
        word: "an operator",
        members: &[
            "+", "-", "*", "/", "%", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&", "^", "|", "&&", "||", "?", "(",
            "[", ".",
        ],
    },
    Group { witness: "identifier", word: "a name", members: &["identifier"] },
    Group { witness: "public", word: "`public` or `private`", members: &["public", "private"] },
];

impl Expected {
    /// Sums up the names of terminals, each in quotes as `lalrpop` gives them.
    pub(crate) fn new(terminals: &[String]) -> Expected {
        let mut names: Vec<&str> = terminals.iter().map(|name| name.trim_matches('"')).collect();
        let has = |names: &[&str], name: &str| names.contains(&name);
        let (operator, expression, assignment) = (has(&names, "*"), has(&names, "integer"), has(&names, "+="));
        let mut words: Vec<String> = Vec::new();
        for group in GROUPS {
            if has(&names, group.witness) {
                names.retain(|name| !group.members.contains(name));
                words.push(group.word.to_owned());
            }
        }
        words.extend(names.iter().map(|&name| if name == "head ;" { "`;`".to_owned() } else { format!("`{name}`") }));
        Expected { phrase: join(&words), operator, expression, assignment }
    }
}

fn join(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        many if many.len() > MAX_WORDS => many[..MAX_WORDS].join(", ") + " or another token",
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    }
}

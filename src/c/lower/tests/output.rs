//! Output, and choices.

use super::{HEAD, Settings, holds, in_main, lowered_with};

#[test]
fn what_is_printed_stands_close_together() {
    let text = in_main(
        "int x; unsigned long u; char c;",
        "printf(\"x=%d, %lu%%\\n\", x, u); printf(\"%s %c %x\\n\", \"a\", 'b', 255); puts(\"end\"); putchar('!'); printf(\"%hhd\\n\", c);
         fprintf(stderr, \"\\n\");",
    );
    holds(
        &text,
        &[
            "print \"x=\", %0, \", \", %1, \"%\"",
            "print \"a\" as %s, \" \", 98 as %c, \" \", 255U as %x",
            "print \"end\"",
            "print 33 as %c",
            "print %4",
            "print",
        ],
    );
}

#[test]
fn what_is_not_determined_is_chosen() {
    let text = format!(
        "{HEAD}int __VERIFIER_nondet_int(void); _Bool __VERIFIER_nondet_bool(void); void __VERIFIER_assume(int);
         int main(void) {{ int n = __VERIFIER_nondet_int(); __VERIFIER_assume(n >= 3 && n < 9); int m; scanf(\"%d\", &m);
           _Bool b = __VERIFIER_nondet_bool(); rand(); return n + m + b + rand(); }}"
    );
    let (printed, lowered) = lowered_with(&[&text], &Settings::default()).expect("it is read");
    holds(
        &printed,
        &[
            "%1 = choose(3, 8)",
            "n = %1",
            "assume %4",
            "%6 = choose(0, 1)",
            "m = %6",
            "%8 = choose(0, 1)",
            "%9 = bool(%8)",
        ],
    );
    assert_eq!(printed.matches("choose").count(), 4, "{printed}");
    let notes: Vec<&str> = lowered.notes.iter().map(|note| note.message.as_str()).collect();
    assert!(notes.contains(&"`__VERIFIER_nondet_int()` is 3..8 here"), "{notes:?}");
    let settings = Settings { nondet: Some((-1, 7)), ..Settings::default() };
    let (printed, _) = lowered_with(&[&text], &settings).expect("it is read");
    holds(&printed, &["%1 = choose(-1, 7)"]);
}

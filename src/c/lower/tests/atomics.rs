//! Atomic accesses.

use super::{Settings, holds, in_main, lowered_with};

#[test]
fn an_access_to_an_atomic_object_is_one_operation() {
    let text = in_main(
        "_Atomic int a; _Atomic unsigned char c; _Atomic(int *) p; atomic_bool b; int x;",
        "a = 1; x = a; a++; x = a += 2; a = a + 1; a *= 3; c |= 5; p++; b = 2; atomic_init(&a, 7);",
    );
    holds(
        &text,
        &[
            "store a = 1",
            "%0 = load a",
            "store x = %0",
            "%1 = fetch_add a, 1",
            "%2 = fetch_add a, 2",
            "%3 = %2 + 2",
            "store x = %3",
            "%5 = %4 +.checked 1",
            "store a = %5",
        ],
    );
    holds(&text, &["%8 = %6 * 3", "%9 = exchange a, %6, %8", "%10 = %9 == %6"]);
    holds(&text, &["%11 = fetch_or c, (unsigned char)5"]);
    holds(&text, &["%14 = %12 +.pointer 4L", "%15 = exchange p, %12, %14"]);
    holds(&text, &["store b = true", "store a = 7"]);
}

#[test]
fn operations_of_the_compiler_are_atomic_on_plain_objects() {
    let text = format!(
        "{}int x; int main(void) {{ int e = 0, r; x = 1; __atomic_store_n(&x, 2, 0); r = __sync_add_and_fetch(&x, 3);
           if (!__atomic_compare_exchange_n(&x, &e, 5, 0, 0, 0)) r = e; r = __sync_val_compare_and_swap(&x, 1, 2);
           r = __sync_bool_compare_and_swap(&x, r, 2); __atomic_exchange(&x, &e, &r, 0); __sync_fetch_and_nand(&x, 6);
           __atomic_load(&x, &r, 0); __sync_synchronize(); return r; }}",
        super::HEAD
    );
    let (text, lowered) = lowered_with(&[&text], &Settings::default()).expect("it is read");
    holds(
        &text,
        &[
            "store x = 1",
            "store x = 2",
            "%2 = fetch_add x, 3",
            "%3 = %2 + 3",
            "r = %3",
            "%4 = e",
            "%5 = exchange x, %4, 5",
            "%6 = %5 == %4",
        ],
    );
    holds(&text, &["e = %5"]);
    holds(&text, &["%7 = exchange x, 1, 2", "r = %7", "%8 = exchange x, r, 2", "%9 = %8 == r"]);
    holds(&text, &["r = %11", "%12 = fetch_nand x, 6", "%13 = load x", "r = %13"]);
    let program = lowered.program;
    let of_x: Vec<_> = program.symbols.iter().filter(|symbol| program.texts.get(symbol.name) == "x").collect();
    assert_eq!(of_x.iter().map(|symbol| symbol.atomic).collect::<Vec<_>>(), [false, true]);
    assert_eq!(of_x[0].cells_of, of_x[1].cells_of);
    let mut versions: Vec<u32> = program.definitions.iter().map(|one| one.version).collect();
    versions.sort_unstable();
    assert_eq!(versions, (0..versions.len() as u32).collect::<Vec<_>>(), "they count as one");
}

#[test]
fn a_flag_is_swapped() {
    let text =
        in_main("atomic_flag f = ATOMIC_FLAG_INIT;", "while (atomic_flag_test_and_set(&f)) ; atomic_flag_clear(&f);");
    holds(&text, &["global f.__set: atomic bool = false"]);
    assert!(text.contains("= swap"), "{text}");
}

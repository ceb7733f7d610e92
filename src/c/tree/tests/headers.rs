//! Our headers: each alone, twice, and all together, in each dialect and data model.

use super::super::{DataModel, MemoryFiles, Options, Standard};
use super::messages;
use crate::headers;

const DIALECTS: [&str; 5] = ["c89", "gnu99", "c11", "gnu17", "gnu23"];

#[test]
fn each_header_stands_alone_and_may_come_twice() {
    for name in headers::names() {
        for data_model in [DataModel::Lp64, DataModel::Ilp32] {
            let text = format!("#include <{name}>\n#include <{name}>\nint main(void) {{ return 0; }}\n");
            let options = Options { data_model, ..Options::default() };
            assert_eq!(messages(&text, &MemoryFiles::new(), &options), [""; 0], "{name}");
        }
    }
}

#[test]
fn all_headers_go_together_in_each_dialect() {
    let forwards: Vec<&str> = headers::names().collect();
    let backwards: Vec<&str> = forwards.iter().rev().copied().collect();
    for names in [forwards, backwards] {
        // C23 has words of its own for what iso646.h and threads.h define; C89 has no 64 bits.
        for dialect in DIALECTS {
            let text: String = names.iter().map(|name| format!("#include <{name}>\n")).collect();
            let options = Options { standard: Standard::parse(dialect).expect("a dialect"), ..Options::default() };
            assert_eq!(messages(&text, &MemoryFiles::new(), &options), [""; 0], "{dialect}");
        }
    }
}

#[test]
fn the_user_s_headers_come_first() {
    let files = MemoryFiles::new().with("own/assert.h", "#define assert(x) own(x)\nvoid own(int);\n");
    let options = Options { include: vec!["own".into()], ..Options::default() };
    let text = "#include <assert.h>\nvoid f(int a) { assert(a); }";
    assert_eq!(messages(text, &files, &options), [""; 0]);
    let (_, _, reading) = super::reading(text, &files, &options);
    let text = super::print(&reading.unit.expect("it is C"), &|_| true);
    assert!(text.contains("(own)(Read<int>(a))"), "{text}");
}

#[test]
fn macros_of_headers_give_what_the_standard_says() {
    let text =
        "#include <stdatomic.h>\n#include <limits.h>\n#include <stdint.h>\n#include <stddef.h>\n#include <errno.h>
        _Static_assert(INT_MIN == -2147483647 - 1 && UINT_MAX == 4294967295u && CHAR_BIT == 8, \"limits\");
        _Static_assert(LONG_MAX == 9223372036854775807L && ULONG_MAX == 18446744073709551615UL, \"long\");
        _Static_assert(SIZE_MAX == ULONG_MAX && INT64_MIN < 0 && UINT8_MAX == 255 && sizeof(intptr_t) == 8, \"stdint\");
        _Static_assert(UINT64_C(1) << 63 > 0 && sizeof(wchar_t) == 4, \"widths\");
        _Static_assert(EBUSY == 16 && ETIMEDOUT == 110, \"errno\");
        struct s { char c; int x; }; _Static_assert(offsetof(struct s, x) == 4, \"offsetof\");
        atomic_int a = ATOMIC_VAR_INIT(1); atomic_flag f = ATOMIC_FLAG_INIT; _Atomic(struct s *) p;
        int g(void) { int e = 1; atomic_init(&a, 2); atomic_store_explicit(&a, 3, memory_order_release);
          atomic_thread_fence(memory_order_acq_rel); atomic_flag_clear(&f);
          atomic_fetch_sub(&a, 1); atomic_exchange(&p, NULL);
          return atomic_compare_exchange_weak_explicit(&a, &e, 4, memory_order_acquire, memory_order_relaxed)
            + atomic_flag_test_and_set(&f) + atomic_load(&a); }";
    assert_eq!(messages(text, &MemoryFiles::new(), &Options::default()), [""; 0]);
}

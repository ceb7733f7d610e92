//! Memory of `malloc` and the like.

use super::{holds, in_main, refused};

#[test]
fn each_place_that_asks_for_memory_has_a_function_that_makes_it() {
    let text = in_main(
        "struct node { int value; struct node *next; }; struct node *head;",
        "struct node *made = malloc(sizeof *made); made->next = head; head = made; int *all = calloc(3, sizeof(int)); all[2] = 1;",
    );
    holds(
        &text,
        &["local malloc@9.value: int = 0  // of malloc@9", "local malloc@9.next: pointer = NULL  // of malloc@9"],
    );
    holds(&text, &["% = call malloc@9()", "made = %", "% = load head", "store made->next = %", "store head = made"]);
    holds(&text, &["% = call calloc@9()", "all = %", "% = all +.pointer 8L", "store all[2] = 1"]);
    holds(&text, &["% = allocate malloc@9", "return %"]);
    holds(&text, &["local calloc int[3]  // of calloc@9"]);
}

#[test]
fn a_number_that_is_computed_is_a_parameter() {
    let text = in_main("int n = 2; void *any;", "long *all = malloc((n + 1) * sizeof(long)); all[n] = 1;");
    holds(&text, &["local malloc long[1024]  // of malloc@9", "% = % /.long 8L", "% = 1024L <.long %"]);
    holds(&text, &["% = call malloc@9(%)", "% = allocate malloc@9[%]"]);
}

#[test]
fn the_first_pointer_that_memory_becomes_says_of_what_type_it_is() {
    let text = in_main("", "void *any = malloc(8); long *it = any; *it = 3; free(any);");
    holds(&text, &["local malloc long = 0L  // of malloc@9"]);
    let text = in_main("", "int *it = (int *)malloc(sizeof(int)); *it = 3;");
    holds(&text, &["local malloc int = 0  // of malloc@9"]);
    assert_eq!(
        refused("", "void *any = malloc(8);"),
        ["memory whose type the text does not say where it is asked for is not read at `malloc(8)`"]
    );
    assert_eq!(
        refused("", "int *it = malloc(5);"),
        ["memory whose size is no multiple of that of its type is not read at `malloc(5)`"]
    );
}

#[test]
fn a_structure_has_as_many_elements_at_its_end_as_there_is_memory_for() {
    let text = in_main("struct s { int n; int all[]; };", "struct s *it = malloc(sizeof *it + 8); it->all[1] = 2;");
    holds(&text, &["local malloc@9.n: int = 0  // of malloc@9", "local malloc@9.all: int[1024]  // of malloc@9"]);
    holds(&text, &["% = 12L -.long 4L", "% = % /.long 4L", "% = call malloc@9(%)", "% = allocate malloc@9[%]"]);
}

#[test]
fn each_call_of_a_wrapper_makes_objects_of_its_own() {
    let text = in_main(
        "static void *mine(unsigned long n) { void *p = malloc(n); if (!p) abort(); return p; }
         static void *more(unsigned long n, unsigned long size) { return mine(n * size); }",
        "int *one = mine(sizeof *one); long *all = more(3, sizeof *all); *one = all[2];",
    );
    holds(&text, &["local more long[3]  // of more@10", "local mine int = 0  // of mine@10"]);
    let problem = refused("static void *mine(void) { return malloc(4); }", "void *it = mine();");
    assert_eq!(problem, ["memory whose type the text does not say where it is asked for is not read at `malloc(4)`"]);
}

#[test]
fn memory_is_given_back_where_the_text_says_so() {
    let text = in_main("", "int *it = malloc(4); free(it); free(0);");
    holds(&text, &["% = call malloc@9()", "it = %", "free it", "free %"]);
}

#[test]
fn handles_and_locks_on_the_heap_are_what_they_are() {
    let declarations = "void *w(void *a) { return a; }
        void start(pthread_t *all) { pthread_create(&all[0], 0, w, 0); }";
    let text = in_main(
        declarations,
        "pthread_t *t = malloc(2 * sizeof(pthread_t)); start(t); pthread_join(t[0], 0);
         pthread_mutex_t *m = malloc(sizeof *m); pthread_mutex_lock(m);",
    );
    holds(&text, &["local malloc thread[2]  // of malloc@10", "local malloc lock  // of malloc@11"]);
}

#[test]
fn a_handle_that_threads_read_is_written_with_the_creation() {
    let declarations = "pthread_t t; int *other; void *v(void *a) { return a; }
        void *w(void *a) { pthread_join(t, 0); return a; }";
    let text = in_main(declarations, "pthread_t u; pthread_create(&t, 0, v, 0); pthread_create(&u, 0, w, 0);");
    holds(
        &text,
        &["begin atomic", "% = spawn v(NULL) as v@10", "store t = %", "end atomic", "% = spawn w(NULL) as w@10"],
    );
}

#[test]
fn pointers_into_different_objects_have_no_order() {
    let text = in_main("", "int *a = malloc(8), *b = a + 1; int n = a < b; n = b - a;");
    let tests = text.matches("error \"pointers into different objects are compared by `<`, or subtracted\"").count();
    assert_eq!(tests, 2, "{text}");
    let plain = in_main("int all[2];", "int *a = all, *b = a + 1; int n = a < b;");
    assert!(!plain.contains("error"), "{plain}");
}

//! What small functions look like.

use cssame::ir::print::{Plain, print_function};
use cssame::ir::structure::{Label, Structured, structured};
use cssame::ir::{BlockId, FunctionKind};
use std::collections::BTreeMap;
use std::fmt::Write;
use support::unit;

/// The lines of each block; the last one is its terminator.
type Lines = BTreeMap<u32, Vec<String>>;

/// The first function of a program as structured text.
fn text_of(text: &str) -> String {
    let unit = unit(text);
    let is_wanted = |kind| matches!(kind, FunctionKind::Function | FunctionKind::Main);
    let found = unit.program.functions.entries().find(|(_, function)| is_wanted(function.kind));
    let (id, function) = found.unwrap();
    let mut lines = Lines::new();
    let mut current = 0;
    for line in print_function(&unit.program, &unit.sources, id, &Plain).lines().skip(1) {
        match line.strip_prefix('b').and_then(|rest| rest.strip_suffix(':')) {
            Some(number) => current = number.parse().unwrap(),
            None => lines.entry(current).or_default().push(line.trim().to_owned()),
        }
    }
    let is_local = |block: BlockId| !lines[&block.0].iter().any(|line| line.contains("load"));
    let statements = structured(function, &is_local).unwrap();
    super::flat::check(function, &statements);
    let mut text = String::new();
    print(&statements, &lines, 0, &mut text);
    text
}

fn print(statements: &[Structured], lines: &Lines, depth: usize, text: &mut String) {
    let pad = "  ".repeat(depth);
    let named = |label: &Option<Label>| label.map_or_else(String::new, |label| format!(" L{}", label.0));
    let head = |label: &Option<Label>| label.map_or_else(String::new, |label| format!("L{}: ", label.0));
    let test = |block: &BlockId, negated: &bool| {
        let terminator = lines[&block.0].iter().find_map(|line| line.strip_prefix("if ")).unwrap();
        let condition = terminator.split(" goto").next().unwrap();
        if *negated { format!("!{condition}") } else { condition.to_owned() }
    };
    let instructions = |block: &BlockId| {
        let is_terminator = |line: &str| ["if ", "goto ", "return", "}"].iter().any(|word| line.starts_with(word));
        lines[&block.0].iter().filter(|line| !is_terminator(line)).cloned().collect::<Vec<_>>()
    };
    for statement in statements {
        match statement {
            Structured::Block(block) => instructions(block).iter().for_each(|line| {
                let _ = writeln!(text, "{pad}{line};");
            }),
            Structured::If { block, negated, then, otherwise, .. } => {
                let _ = writeln!(text, "{pad}if ({}) {{", test(block, negated));
                print(then, lines, depth + 1, text);
                if !otherwise.is_empty() {
                    let _ = writeln!(text, "{pad}}} else {{");
                    print(otherwise, lines, depth + 1, text);
                }
                let _ = writeln!(text, "{pad}}}");
            }
            Structured::Loop { label, body } => {
                let _ = writeln!(text, "{pad}{}loop {{", head(label));
                print(body, lines, depth + 1, text);
                let _ = writeln!(text, "{pad}}}");
            }
            Structured::While { label, block, negated, body, .. } => {
                let test = [instructions(block), vec![test(block, negated)]].concat().join("; ");
                let _ = writeln!(text, "{pad}{}while ({test}) {{", head(label));
                print(body, lines, depth + 1, text);
                let _ = writeln!(text, "{pad}}}");
            }
            Structured::Labelled { label, body } => {
                let _ = writeln!(text, "{pad}L{}: {{", label.0);
                print(body, lines, depth + 1, text);
                let _ = writeln!(text, "{pad}}}");
            }
            Structured::Break(label) => {
                let _ = writeln!(text, "{pad}break{};", named(label));
            }
            Structured::Continue(label) => {
                let _ = writeln!(text, "{pad}continue{};", named(label));
            }
            Structured::Return { block, .. } => {
                let line = lines[&block.0].iter().find(|line| line.starts_with("return")).unwrap();
                let _ = writeln!(text, "{pad}{line};");
            }
        }
    }
}

#[test]
fn an_if() {
    insta::assert_snapshot!(text_of("void f(bool c) { if (c) { print(1); } print(2); }"), @r"
    if (c) {
      print 1;
    }
    print 2;
    ");
}

#[test]
fn an_if_with_else() {
    insta::assert_snapshot!(text_of("void f(bool c) { if (c) { print(1); } else { print(2); } print(3); }"), @r"
    if (c) {
      print 1;
    } else {
      print 2;
    }
    print 3;
    ");
}

#[test]
fn a_chain_of_else_if() {
    let text = "int a; void f(int n) { if (n == 1) { print(1); } else if (a == n) { print(2); } else if (n == 3) print(3); else print(4); print(5); }";
    insta::assert_snapshot!(text_of(text), @r"
    %1 = n == 1;
    if (%1) {
      print 1;
    } else {
      %2 = load a@1:59;
      %3 = %2 == n;
      if (%3) {
        print 2;
      } else {
        %4 = n == 3;
        if (%4) {
          print 3;
        } else {
          print 4;
        }
      }
    }
    print 5;
    ");
}

#[test]
fn returns_leave_no_else() {
    let text = "int f(int n) { if (n == 1) { return 10; } else if (n == 2) { return 20; } else { return 30; } }";
    insta::assert_snapshot!(text_of(text), @r"
    %1 = n == 1;
    if (%1) {
      return 10;
    }
    %2 = n == 2;
    if (%2) {
      return 20;
    }
    return 30;
    ");
    let text = "void f(bool c, bool d) { if (c) return; print(1); if (d) { print(2); return; } print(3); }";
    insta::assert_snapshot!(text_of(text), @r"
    if (c) {
      return;
    }
    print 1;
    if (d) {
      print 2;
      return;
    }
    print 3;
    ");
}

#[test]
fn while_loops() {
    let text =
        "int a; void f(int n) { while (n > 0) { n -= 1; print(n); } print(0); while (a > 0) { print(1); } print(2); }";
    insta::assert_snapshot!(text_of(text), @r"
    while (%1 = 0 < n; %1) {
      %2 = n - 1;
      n = %2;
      print n;
    }
    print 0;
    loop {
      %3 = load a@1:77;
      %4 = 0 < %3;
      if (!%4) {
        break;
      }
      print 1;
    }
    print 2;
    ");
}

#[test]
fn a_do_while_loop() {
    insta::assert_snapshot!(text_of("int a; void f(int n) { do { n -= 1; if (n == 2) continue; print(n); } while (a < n); print(0); }"), @r"
    loop {
      %1 = n - 1;
      n = %1;
      %2 = n == 2;
      if (!%2) {
        print n;
      }
      %3 = load a@1:78;
      %4 = %3 < n;
      if (!%4) {
        break;
      }
    }
    print 0;
    ");
}

#[test]
fn a_for_loop_with_continue_and_break() {
    let text = "void f(int n) { for (int i = 0; i < n; i++) { if (i == 2) continue; if (i == 5) { print(5); break; } print(i); } print(n); }";
    insta::assert_snapshot!(text_of(text), @r"
    i = 0;
    while (%2 = i < n; %2) {
      %3 = i == 2;
      if (!%3) {
        %4 = i == 5;
        if (%4) {
          print 5;
          break;
        }
        print i;
      }
      %5 = i + 1;
      i = %5;
    }
    print n;
    ");
}

#[test]
fn a_while_loop_with_continue() {
    let text = "int a; void f() { while (a < 9) { if (a == 1) { print(1); continue; } if (a == 2) continue; print(3); if (a == 4) { print(4); } else { print(5); } } }";
    insta::assert_snapshot!(text_of(text), @r"
    loop {
      %0 = load a@1:26;
      %1 = %0 < 9;
      if (!%1) {
        break;
      }
      %2 = load a@1:39;
      %3 = %2 == 1;
      if (%3) {
        print 1;
        continue;
      }
      %4 = load a@1:75;
      %5 = %4 == 2;
      if (%5) {
        continue;
      }
      print 3;
      %6 = load a@1:107;
      %7 = %6 == 4;
      if (%7) {
        print 4;
      } else {
        print 5;
      }
    }
    ");
}

#[test]
fn nested_loops_and_switches_with_labels() {
    let text = "int a; void f(int n) { while (true) { for (int i = 0; i < n; i++) { while (a > i) { if (a == 3) return; print(3); } if (a == 5) break; } if (a == 7) break; } print(0); }";
    insta::assert_snapshot!(text_of(text), @r"
    loop {
      i = 0;
      while (%2 = i < n; %2) {
        loop {
          %3 = load a@1:76;
          %4 = i < %3;
          if (!%4) {
            break;
          }
          %5 = load a@1:89;
          %6 = %5 == 3;
          if (%6) {
            return;
          }
          print 3;
        }
        %7 = load a@1:121;
        %8 = %7 == 5;
        if (%8) {
          break;
        }
        %9 = i + 1;
        i = %9;
      }
      %10 = load a@1:142;
      %11 = %10 == 7;
      if (%11) {
        break;
      }
    }
    print 0;
    ");
    let text = "int a; void f(int n) { while (n > 0) { switch (a) { case 1: print(1); continue; case 2: print(2); break; default: n--; } print(n); } }";
    insta::assert_snapshot!(text_of(text), @r"
    while (%1 = 0 < n; %1) {
      %2 = load a@1:48;
      %3 = %2 == 1;
      if (%3) {
        print 1;
        continue;
      }
      %4 = %2 == 2;
      if (%4) {
        print 2;
      } else {
        %5 = n - 1;
        n = %5;
      }
      print n;
    }
    ");
}

#[test]
fn a_switch_that_falls_through() {
    let text = "void f(int n) { switch (n) { case 1: print(1); break; case 2: print(2); fallthrough; case 3: case 4: print(3); break; default: print(4); } print(5); }";
    insta::assert_snapshot!(text_of(text), @r"
    %1 = n == 1;
    L0: {
      if (%1) {
        print 1;
      } else {
        %2 = n == 2;
        if (%2) {
          print 2;
        } else {
          %3 = n == 3;
          if (!%3) {
            %4 = n == 4;
            if (!%4) {
              print 4;
              break L0;
            }
          }
        }
        print 3;
      }
    }
    print 5;
    ");
    let text = "void f(int n) { switch (n) { case 1: print(1); break; case 2: print(2); break; case 3: print(3); break; default: print(4); } print(5); }";
    insta::assert_snapshot!(text_of(text), @r"
    %1 = n == 1;
    if (%1) {
      print 1;
    } else {
      %2 = n == 2;
      if (%2) {
        print 2;
      } else {
        %3 = n == 3;
        if (%3) {
          print 3;
        } else {
          print 4;
        }
      }
    }
    print 5;
    ");
}

#[test]
fn short_circuits() {
    let text = "int a; void f(bool c, bool d) { if (c && d) print(1); if (c || a == 1) print(2); if (c && d) print(3); else print(4); }";
    insta::assert_snapshot!(text_of(text), @r"
    if (c) {
      if (d) {
        print 1;
      }
    }
    L0: {
      if (!c) {
        %2 = load a@1:64;
        %3 = %2 == 1;
        if (!%3) {
          break L0;
        }
      }
      print 2;
    }
    L1: {
      if (c) {
        if (d) {
          print 3;
          break L1;
        }
      }
      print 4;
    }
    ");
    insta::assert_snapshot!(text_of("int a; void f(int n) { while (n > 0 && a > 0) { n--; } print(n); }"), @r"
    while (%1 = 0 < n; %1) {
      %2 = load a@1:40;
      %3 = 0 < %2;
      if (!%3) {
        break;
      }
      %4 = n - 1;
      n = %4;
    }
    print n;
    ");
    insta::assert_snapshot!(text_of("void f(bool c, bool d) { bool e = c || d; print(e, c ? 1 : 2); }"), @r"
    L0: {
      if (!c) {
        if (!d) {
          %2 = false;
          break L0;
        }
      }
      %2 = true;
    }
    e = %2;
    if (c) {
      %4 = 1;
    } else {
      %4 = 2;
    }
    print e, %4;
    ");
}

#[test]
fn a_return_in_a_loop() {
    let text = "int a; int f(int n) { for (int i = 0; i < n; i++) { if (a == i) { print(i); return i; } } return -1; }";
    insta::assert_snapshot!(text_of(text), @r"
    i = 0;
    while (%2 = i < n; %2) {
      %3 = load a@1:57;
      %4 = %3 == i;
      if (%4) {
        print i;
        return i;
      }
      %5 = i + 1;
      i = %5;
    }
    return -1;
    ");
    insta::assert_snapshot!(text_of("int a; int f() { while (true) { if (a == 1) { print(1); return 2; } } }"), @r"
    loop {
      %0 = load a@1:37;
      %1 = %0 == 1;
      if (%1) {
        print 1;
        return 2;
      }
    }
    ");
}

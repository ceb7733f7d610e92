//! The verifier accepts what the front end makes, and finds what is broken on purpose.

use cssame::ir::verify::verify;
use cssame::ir::{
    Arithmetic, Base, BinaryOperator, Block, BlockId, FunctionId, Instruction, LeafId, Operand, Place, Program,
    RegisterId, RegisterType, ScalarType, Terminator, Value, VariableId,
};
use cssame::source::Span;
use support::unit;

fn program(text: &str) -> Program {
    unit(text).program
}

fn small() -> Program {
    program(
        "int a; int t[3]; lock L;
         int f(int n) { if (n > 0) { return n; } return 0; }
         void main() { int i = 1; cobegin T1: { lock(L); a = f(i); unlock(L); } T2: { t[i] = a; } coend print(a); }",
    )
}

/// The messages of a program that a change has broken.
fn broken(change: impl FnOnce(&mut Program)) -> Vec<String> {
    let mut program = small();
    assert_eq!(verify(&program), Ok(()));
    change(&mut program);
    verify(&program).err().into_iter().flatten().map(|violation| violation.to_string()).collect()
}

/// The first instruction of which `find` says so.
fn instruction(program: &mut Program, find: impl Fn(&Instruction) -> bool) -> &mut Instruction {
    let blocks = program.functions.iter_mut().flat_map(|function| function.blocks.iter_mut());
    blocks.flat_map(|block| &mut block.instructions).find(|instruction| find(instruction)).unwrap()
}

fn assert_finds(messages: &[String], part: &str) {
    assert!(messages.iter().any(|message| message.contains(part)), "{part:?} not in {messages:?}");
}

#[test]
fn every_sample_keeps_the_rules() {
    let mut count = 0;
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/samples")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "csm") {
            let program = program(&std::fs::read_to_string(&path).unwrap());
            assert_eq!(verify(&program), Ok(()), "{}", path.display());
            count += 1;
        }
    }
    assert!(count > 10);
}

#[test]
fn a_program_of_everything_keeps_the_rules() {
    let program = program(
        r#"class Account { private lock L; private int balance = 1; double rate[2];
             public int take(int n) { synchronized (L) { balance -= n; return balance; } }
             public void both() { cobegin A: balance = 1; B: balance = 2; coend } }
           Account x; long big = 5; string s = "a"; event e; cond c; sem m = 1; lock K; barrier b(2); bool flag;
           extern int now() in 0..3;
           int early(int n) { while (true) { if (n > 3) break; n++; if (n == 2) continue; } return n; }
           void main() {
             int t[4]; int shared; int k = now(); thread h = spawn early(k);
             parfor (int i = 0; i < 3; i++) { t[i] = i; atomic { shared += i; } }
             for (int i = 0; i < 4; i++) { if (t[i] > 2 && k != 1 || flag) continue; k += t[i]; }
             do { k--; } while (k > 0);
             flag = k > 2 ? true : cas(shared, 0, 1); k = swap(shared, 2) + fetch_add(shared, 3);
             cobegin T1: { set(e); lock(K); wait(c, K); unlock(K); P(m); } T2: { wait(e); notifyAll(c); V(m); barrier(b); }
                     T3: { barrier(b); x.take(k); x.rate[1] = 2.5 * big; } coend
             x.both(); join(h); assert(shared >= 0, "why"); assume(k < 100); print(s, x.rate[0], shared, big << k);
           }"#,
    );
    assert_eq!(verify(&program), Ok(()));
}

#[test]
fn ids_must_exist() {
    let messages = broken(|program| {
        if let Instruction::Load { dest, .. } = instruction(program, |each| matches!(each, Instruction::Load { .. })) {
            *dest = RegisterId(77);
        }
    });
    assert_finds(&messages, "register 77 does not exist");
    let messages = broken(|program| {
        program.functions[FunctionId(0)].blocks[BlockId(0)].terminator = Terminator::Jump(BlockId(99))
    });
    assert_finds(&messages, "block 99 does not exist");
    let messages = broken(|program| program.functions[FunctionId(0)].blocks[BlockId(0)].spans.clear());
    assert_finds(&messages, "spans");
    let messages = broken(|program| {
        if let Instruction::Store { place, .. } = instruction(program, |each| matches!(each, Instruction::Store { .. }))
        {
            place.base = Base::Global(VariableId(50));
        }
    });
    assert_finds(&messages, "variable 50 does not exist");
    assert_finds(&broken(|program| program.main = Some(FunctionId(9))), "main");
}

#[test]
fn tables_must_fit() {
    assert_finds(&broken(|program| program.leaves[LeafId(1)].offset = 2), "leaf 1");
    assert_finds(&broken(|program| program.variables[VariableId(1)].size = 9), "do not fill");
    assert_finds(&broken(|program| program.leaves[LeafId(0)].initial[0] = Value::Bool(true)), "initial value");
    assert_finds(&broken(|program| program.leaves[LeafId(0)].initial_definition = None), "initial definition");
    let messages = broken(|program| {
        let load = instruction(program, |each| matches!(each, Instruction::Load { .. })).clone();
        let block = &mut program.functions[FunctionId(0)].blocks[BlockId(0)];
        block.instructions.push(load);
        block.spans.push(Span::default());
    });
    assert_finds(&messages, "stands in 2 instructions");
    assert_finds(&messages, "is elsewhere");
    let messages = broken(|program| {
        for definition in program.definitions.iter_mut().filter(|definition| definition.version > 0) {
            definition.version = 0;
        }
    });
    assert_finds(&messages, "version 0");
}

#[test]
fn types_must_fit() {
    let messages = broken(|program| {
        if let Instruction::Store { value, .. } = instruction(program, |each| matches!(each, Instruction::Store { .. }))
        {
            *value = Operand::Constant(Value::Bool(true));
        }
    });
    assert_finds(&messages, "Scalar(Bool) at Data(Int)");
    let messages = broken(|program| {
        if let Instruction::Binary { op, .. } = instruction(program, |each| matches!(each, Instruction::Binary { .. }))
        {
            *op = BinaryOperator::Less(Arithmetic::Long);
        }
    });
    assert_finds(&messages, "Less(Long)");
    let messages = broken(|program| {
        if let Instruction::Call { arguments, .. } =
            instruction(program, |each| matches!(each, Instruction::Call { .. }))
        {
            arguments.clear();
        }
    });
    assert_finds(&messages, "arguments [] for parameters");
    let messages = broken(|program| {
        program.functions[FunctionId(0)].result = Some(ScalarType::Long);
    });
    assert_finds(&messages, "returns what it should not");
    let messages = broken(|program| {
        let lock = instruction(program, |each| matches!(each, Instruction::Synchronise(_)));
        *lock = Instruction::Synchronise(cssame::ir::Synchronisation::on(
            cssame::ir::sync::Kind::Lock,
            Place::global(VariableId(0)),
        ));
    });
    assert_finds(&messages, "does not fit Data(Int)");
    let messages = broken(|program| {
        if let Instruction::Store { place, .. } =
            instruction(program, |each| matches!(each, Instruction::Store { place, .. } if !place.indices.is_empty()))
        {
            place.offset = 1;
        }
    });
    assert_finds(&messages, "an index into what is not that array");
}

/// The small program with the blocks of its main function replaced.
fn with_main(blocks: Vec<(Vec<Instruction>, Terminator)>) -> Vec<String> {
    broken(|program| {
        let main = program.main.unwrap();
        let function = &mut program.functions[main];
        let ty = RegisterType::Scalar(ScalarType::Bool);
        function.registers.iter_mut().for_each(|register| register.ty = ty);
        let block = |(instructions, terminator): (Vec<Instruction>, Terminator)| Block {
            spans: vec![Span::default(); instructions.len()],
            instructions,
            terminator,
            terminator_span: Span::default(),
            negated: false,
        };
        function.blocks = blocks.into_iter().map(block).collect();
    })
}

#[test]
fn registers_are_written_before_they_are_read() {
    let register = RegisterId(0);
    let write = Instruction::Copy { dest: register, source: Operand::Constant(Value::Bool(true)) };
    let read = Instruction::Assert { condition: Operand::Register(register), message: None };
    let branch = |then_block, else_block| Terminator::Branch {
        condition: Operand::Constant(Value::Bool(true)),
        then_block: BlockId(then_block),
        else_block: BlockId(else_block),
    };
    let (to_end, end) = (Terminator::Jump(BlockId(3)), Terminator::Return(None));
    let one_side =
        vec![(vec![], branch(1, 2)), (vec![write.clone()], to_end), (vec![], to_end), (vec![read.clone()], end)];
    assert_finds(&with_main(one_side), "register 0 may be read before it is written");
    let both_sides = vec![
        (vec![], branch(1, 2)),
        (vec![write.clone()], to_end),
        (vec![write.clone()], to_end),
        (vec![read.clone()], end),
    ];
    assert!(!with_main(both_sides).iter().any(|message| message.contains("before it is written")));
    // The block that is not reached does not count.
    let not_reached =
        vec![(vec![write], Terminator::Jump(BlockId(2))), (vec![], Terminator::Jump(BlockId(2))), (vec![read], end)];
    assert!(!with_main(not_reached).iter().any(|message| message.contains("before it is written")));
}

#[test]
fn atomic_blocks_and_forks_are_closed() {
    let end = Terminator::Return(None);
    assert_finds(&with_main(vec![(vec![Instruction::AtomicBegin], end)]), "inside an atomic block");
    assert_finds(&with_main(vec![(vec![Instruction::AtomicEnd], end)]), "has not begun");
    let fork = Instruction::Fork { threads: Vec::new(), bounds: None };
    assert_finds(&with_main(vec![(vec![Instruction::Join, fork.clone()], end)]), "without joining");
    let looped = vec![(vec![Instruction::AtomicBegin], Terminator::Jump(BlockId(0)))];
    assert_finds(&with_main(looped), "unbalanced");
    let joined = vec![(vec![fork], Terminator::Jump(BlockId(1))), (vec![Instruction::Join], end)];
    assert!(!with_main(joined).iter().any(|message| message.contains("without joining")));
}

#[test]
fn leaves_are_found_by_offset() {
    let program = program("class P { int a; int t[4]; lock L; } P p; void main() { }");
    let at = |offset| program.leaf_at(VariableId(0), offset).map(|(leaf, _)| leaf);
    assert_eq!(at(0), Some(LeafId(0)));
    assert_eq!((at(1), at(4)), (Some(LeafId(1)), Some(LeafId(1))));
    assert_eq!((at(5), at(6)), (Some(LeafId(2)), None));
}

//! Values of arguments.
//!
//! **Input**: the literals of the file. **Output**: for each type a list of [`Values`] with weights, the simplest first.
//!
//! **Algorithm**: integers are 0, 1, -1, the literals, their neighbours, and the least and the greatest of the type; doubles and
//! strings are literals, 0.0, 1.0 and the empty string. Values that are likely valid as indices and counts are drawn more often
//! than the extremes of a type, which many methods do not tolerate.
//!
//! **Soundness and limits**: other values may be needed to reach a place.

use cssame_harness::{FileValues, ValueType};
use cssame_schedule::Random;

/// Literals of each type that are taken, at most.
const MAX_LITERALS: usize = 16;

/// How often a value is drawn that is small, near a literal, or at the end of its type.
const WEIGHTS: [u32; 3] = [6, 3, 1];

/// Values of one type, the simplest first, with weights.
type Weighted = Vec<(String, u32)>;

/// What arguments are drawn from.
#[derive(Clone, Debug)]
pub struct Values {
    ints: Weighted,
    longs: Weighted,
    bools: Weighted,
    doubles: Weighted,
    strings: Weighted,
}

impl Values {
    /// Those of a file.
    #[must_use]
    pub fn new(file: &FileValues) -> Values {
        let [small, near, _] = WEIGHTS;
        let text = |value: &str, weight| (value.to_owned(), weight);
        let mut doubles = vec![text("0.0", small), text("1.0", small), text("-1.0", near)];
        for value in file.doubles.iter().take(MAX_LITERALS) {
            add(&mut doubles, format!("{value:?}"), near);
        }
        let mut strings = vec![text("\"\"", near)];
        for value in file.texts.iter().take(MAX_LITERALS) {
            add(&mut strings, value.clone(), near);
        }
        Values {
            ints: integers(file, i64::from(i32::MIN), i64::from(i32::MAX), ""),
            longs: integers(file, i64::MIN, i64::MAX, "L"),
            bools: vec![text("false", 1), text("true", 1)],
            doubles,
            strings,
        }
    }

    /// All values of a type, the simplest first.
    pub fn all(&self, ty: ValueType) -> impl Iterator<Item = &str> {
        self.list(ty).iter().map(|(value, _)| value.as_str())
    }

    /// One of them.
    pub fn draw(&self, ty: ValueType, random: &mut Random) -> String {
        let list = self.list(ty);
        let sum: u32 = list.iter().map(|(_, weight)| weight).sum();
        let mut place = random.below(sum.max(1));
        for (value, weight) in list {
            if place < *weight {
                return value.clone();
            }
            place -= weight;
        }
        String::new()
    }

    fn list(&self, ty: ValueType) -> &Weighted {
        match ty {
            ValueType::Int => &self.ints,
            ValueType::Long => &self.longs,
            ValueType::Bool => &self.bools,
            ValueType::Double => &self.doubles,
            ValueType::String => &self.strings,
        }
    }
}

fn integers(file: &FileValues, least: i64, greatest: i64, suffix: &str) -> Weighted {
    let [small, near, end] = WEIGHTS;
    let mut all: Vec<(i64, u32)> = vec![(0, small), (1, small), (-1, near)];
    let literals = file.integers.iter().copied().filter(|value| (least..=greatest).contains(value));
    let neighbours =
        literals.take(MAX_LITERALS).flat_map(|value| [Some(value), value.checked_add(1), value.checked_sub(1)]);
    let mut neighbours: Vec<i64> = neighbours.flatten().filter(|value| (least..=greatest).contains(value)).collect();
    neighbours.sort_by_key(|&value| (value.unsigned_abs(), value < 0));
    all.extend(neighbours.into_iter().map(|value| (value, near)));
    all.extend([(greatest, end), (least, end)]);
    let mut values = Weighted::new();
    for (value, weight) in all {
        add(&mut values, format!("{value}{suffix}"), weight);
    }
    values
}

/// Adds a value that is not there yet.
fn add(list: &mut Weighted, value: String, weight: u32) {
    if !list.iter().any(|(known, _)| *known == value) {
        list.push((value, weight));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cssame_model::Unit;

    fn values(integers: &[i64]) -> Values {
        Values::new(&FileValues { integers: integers.to_vec(), doubles: vec![2.5], texts: vec!["\"a\"".to_owned()] })
    }

    #[test]
    fn integers_are_boundaries_and_the_neighbours_of_literals() {
        let values = values(&[5, 0, 5_000_000_000]);
        let ints: Vec<&str> = values.all(ValueType::Int).collect();
        assert_eq!(ints, ["0", "1", "-1", "4", "5", "6", "2147483647", "-2147483648"]);
        let longs: Vec<&str> = values.all(ValueType::Long).collect();
        assert!(longs.contains(&"5000000001L") && longs.contains(&"-9223372036854775808L"), "{longs:?}");
        let strings: Vec<&str> = values.all(ValueType::String).collect();
        assert_eq!(strings, ["\"\"", "\"a\""]);
    }

    #[test]
    fn every_value_compiles_and_is_drawn() {
        let values = values(&[7]);
        let types = [
            (ValueType::Int, "int"),
            (ValueType::Long, "long"),
            (ValueType::Bool, "bool"),
            (ValueType::Double, "double"),
            (ValueType::String, "string"),
        ];
        for (ty, name) in types {
            let all: Vec<&str> = values.all(ty).collect();
            let calls: String = all.iter().map(|value| format!("f({value});\n")).collect();
            let text = format!("void f({name} x) {{}}\nvoid main() {{ {calls} }}");
            assert!(Unit::from_text("test.csm", &text, &[]).is_ok(), "{text}");
            let mut random = Random::new(1);
            let mut drawn: Vec<String> = (0..2_000).map(|_| values.draw(ty, &mut random)).collect();
            drawn.sort();
            drawn.dedup();
            assert_eq!(drawn.len(), all.len(), "{name}");
        }
    }
}

//! What values are, however they are named: equal numbers stand for equal expressions.
//!
//! Needed to see through bindings where a compiler does, too: a select between the two values its mask compares, a
//! constant that `min` is called on.

use std::collections::HashMap;

/// Number of a meaning.
pub(crate) type Meaning = usize;

#[derive(Clone, PartialEq, Eq, Hash)]
struct Node {
    operation: String,
    operands: Vec<Meaning>,
}

/// The meanings of one function.
#[derive(Default)]
pub(crate) struct Meanings {
    nodes: Vec<Node>,
    known: HashMap<Node, Meaning>,
}

const CONSTANT: &str = "constant ";
const COMPARISON: &str = "comparison ";

impl Meanings {
    /// An operation on operands; the same one gives the same meaning.
    pub(crate) fn of(&mut self, operation: &str, operands: &[Meaning]) -> Meaning {
        let node = Node { operation: operation.to_owned(), operands: operands.to_vec() };
        let next = self.nodes.len();
        *self.known.entry(node.clone()).or_insert_with(|| {
            self.nodes.push(node);
            next
        })
    }

    /// A value of which nothing is known.
    pub(crate) fn fresh(&mut self) -> Meaning {
        self.of(&format!("value {}", self.nodes.len()), &[])
    }

    pub(crate) fn constant(&mut self, value: f64) -> Meaning {
        self.of(&format!("{CONSTANT}{value:e}"), &[])
    }

    pub(crate) fn comparison(&mut self, operator: &str, a: Meaning, b: Meaning) -> Meaning {
        self.of(&format!("{COMPARISON}{operator}"), &[a, b])
    }

    /// A tuple or an array written out.
    pub(crate) fn made(&mut self, parts: &[Meaning]) -> Meaning {
        self.of("made", parts)
    }

    /// Part `n` of a tuple or an array.
    pub(crate) fn part(&mut self, whole: Meaning, n: usize) -> Meaning {
        match &self.nodes[whole] {
            node if node.operation == "made" => node.operands[n],
            _ => self.of(&format!("part {n}"), &[whole]),
        }
    }

    pub(crate) fn is_constant(&self, meaning: Meaning) -> bool {
        self.nodes[meaning].operation.starts_with(CONSTANT)
    }

    /// Whether `mask` compares exactly these two values.
    pub(crate) fn compares(&self, mask: Meaning, a: Meaning, b: Meaning) -> bool {
        let node = &self.nodes[mask];
        node.operation.starts_with(COMPARISON) && (node.operands == [a, b] || node.operands == [b, a])
    }
}

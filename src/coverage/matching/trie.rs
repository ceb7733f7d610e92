//! All patterns as one trie.
//!
//! **Input**: the table of patterns. **Output**: a [`Trie`]: its nodes are the beginnings of patterns; a node at the end of
//! a pattern accepts it.

use crate::pattern::{Letter, PatternId, Role};

/// A node; 0 is the empty beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeId(pub u8);

impl NodeId {
    /// The empty beginning.
    pub const ROOT: NodeId = NodeId(0);
}

/// A beginning of patterns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Node {
    /// The pattern that ends here.
    pub accepts: Option<PatternId>,
    /// Who has made the last access.
    pub last: Option<Role>,
    /// The letters that may follow.
    pub next: Vec<(Letter, NodeId)>,
}

/// The patterns.
#[derive(Clone, Debug)]
pub(crate) struct Trie {
    nodes: Vec<Node>,
}

impl Trie {
    /// That of table I.
    pub fn new() -> Trie {
        let mut trie = Trie { nodes: vec![Node::default()] };
        for pattern in PatternId::all() {
            let mut at = NodeId::ROOT;
            for &letter in pattern.get().letters {
                at = trie.child(at, letter);
            }
            trie.nodes[usize::from(at.0)].accepts = Some(pattern);
        }
        trie
    }

    fn child(&mut self, at: NodeId, letter: Letter) -> NodeId {
        if let Some(&(_, node)) = self.get(at).next.iter().find(|(known, _)| *known == letter) {
            return node;
        }
        let node = NodeId(self.nodes.len() as u8);
        self.nodes.push(Node { last: Some(letter.role), ..Node::default() });
        self.nodes[usize::from(at.0)].next.push((letter, node));
        node
    }

    /// A node.
    pub fn get(&self, node: NodeId) -> &Node {
        &self.nodes[usize::from(node.0)]
    }

    /// The node behind so many letters of a pattern.
    pub fn behind(&self, pattern: PatternId, letters: usize) -> NodeId {
        let mut at = NodeId::ROOT;
        for letter in &pattern.get().letters[..letters] {
            at = self.get(at).next.iter().find(|(known, _)| known == letter).map_or(at, |&(_, node)| node);
        }
        at
    }
}

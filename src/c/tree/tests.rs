//! Small texts, one for each kind of node.

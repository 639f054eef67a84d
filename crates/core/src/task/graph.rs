//! The relation graph of a task, in the DOT language of Graphviz.

use crate::task::node::{Edge, NodeId};
use crate::task::text::headline;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The longest label of a node in a picture, in characters.
pub(crate) const LABEL_CHARS_MAX: usize = 28;

/// Nodes and edges. The same relations make the same picture, in whatever order they came.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Graph {
    nodes: BTreeMap<NodeId, String>,
    edges: BTreeMap<(NodeId, NodeId, &'static str), Edge>,
}

impl Graph {
    /// Makes a graph of relations.
    pub fn of(edges: &[Edge]) -> Self {
        let mut graph = Self::default();
        edges.iter().for_each(|edge| graph.add(edge));
        graph
    }

    /// Adds a relation and its nodes. One that is there already stays, with the greater weight.
    pub fn add(&mut self, edge: &Edge) {
        for node in [&edge.from, &edge.to] {
            self.nodes.entry(node.clone()).or_default();
        }
        let key = (edge.from.clone(), edge.to.clone(), edge.label.name());
        let known = self.edges.entry(key).or_insert_with(|| edge.clone());
        if edge.weight > known.weight {
            *known = edge.clone();
        }
    }

    /// Gives a node a text; without one its id is shown alone.
    pub fn label(&mut self, node: NodeId, text: &str) {
        self.nodes.insert(node, headline(text, 4 * LABEL_CHARS_MAX));
    }

    /// Lists the nodes that have no text.
    pub fn unlabelled(&self) -> Vec<NodeId> {
        self.nodes.iter().filter(|(_, text)| text.is_empty()).map(|(node, _)| node.clone()).collect()
    }

    /// Lists the nodes with their texts, in order.
    pub fn nodes(&self) -> impl Iterator<Item = (&NodeId, &str)> {
        self.nodes.iter().map(|(node, text)| (node, text.as_str()))
    }

    /// Lists the edges, in order.
    pub fn edges(&self) -> impl Iterator<Item = &Edge> {
        self.edges.values()
    }

    /// Writes the graph in the language of Graphviz.
    pub fn to_dot(&self) -> String {
        let mut out = String::from("digraph task {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n");
        for (node, text) in &self.nodes {
            let id = quoted(&node.to_string());
            let label = if text.is_empty() { id.clone() } else { format!("{id}\\n{}", quoted(text)) };
            let _ = writeln!(out, "  \"{id}\" [label=\"{label}\"];");
        }
        for Edge { from, to, label, weight, evidence } in self.edges.values() {
            let (from, to) = (quoted(&from.to_string()), quoted(&to.to_string()));
            let width = 0.5 + 1.5 * weight.value();
            let _ = write!(out, "  \"{from}\" -> \"{to}\" [label=\"{label}\", penwidth={width:.2}");
            if !evidence.is_empty() {
                let _ = write!(out, ", tooltip=\"{}\"", quoted(&headline(evidence, 200)));
            }
            out.push_str("];\n");
        }
        out.push_str("}\n");
        out
    }
}

/// Escapes a text for a quoted string of DOT. Control characters have no place in a label.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().filter(|c| !c.is_control()) {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::Seq;
    use crate::task::identity::TaskId;
    use crate::task::node::{EdgeLabel, Weight};
    use crate::task::path::WorkPath;

    fn graph() -> Graph {
        let file = NodeId::File(WorkPath::new("src/\"odd\" <b>&.rs").unwrap());
        let (task, note) = (NodeId::Task(TaskId(Seq(1))), NodeId::Note(Seq(4)));
        let mut weak = Edge::new(note.clone(), task.clone(), EdgeLabel::Mentions, "said \"so\"\nat 10:00");
        weak.weight = Weight::new(0.5).unwrap();
        let mut graph = Graph::of(&[
            weak,
            Edge::new(task.clone(), file.clone(), EdgeLabel::Writes, ""),
            Edge::new(note, NodeId::Note(Seq(10)), EdgeLabel::Relates, ""),
            Edge::new(task.clone(), file, EdgeLabel::Writes, ""),
        ]);
        graph.label(task, "Add <retry>\n\"logic\" \\ \u{1b}[31m");
        graph
    }

    #[test]
    fn dot_is_escaped_and_in_order() {
        let dot = "digraph task {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n\
  \x20 \"task:1\" [label=\"task:1\\nAdd <retry> \\\"logic\\\" \\\\ [31m\"];\n\
  \x20 \"note:4\" [label=\"note:4\"];\n\
  \x20 \"note:10\" [label=\"note:10\"];\n\
  \x20 \"file:src/\\\"odd\\\" <b>&.rs\" [label=\"file:src/\\\"odd\\\" <b>&.rs\"];\n\
  \x20 \"task:1\" -> \"file:src/\\\"odd\\\" <b>&.rs\" [label=\"writes\", penwidth=2.00];\n\
  \x20 \"note:4\" -> \"task:1\" [label=\"mentions\", penwidth=1.25, tooltip=\"said \\\"so\\\" at 10:00\"];\n\
  \x20 \"note:4\" -> \"note:10\" [label=\"relates\", penwidth=2.00];\n}\n";
        assert_eq!(graph().to_dot(), dot);
    }
}

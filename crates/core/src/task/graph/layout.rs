//! Where things stand in a picture of a graph: a column for each kind of node, and room for the lines that pass a
//! column, so that none runs through a box.

use super::Graph;
use crate::task::node::{Edge, NodeId, NodeKind};
use std::collections::BTreeMap;

pub(super) const MARGIN: i32 = 20;
pub(super) const COLUMN: i32 = 320;
pub(super) const BOX_WIDTH: i32 = 200;
const TOP: i32 = 44;
const BOX_HEIGHT: i32 = 42;
const BOX_GAP: i32 = 22;
/// What a line takes that passes a column.
const LANE: i32 = 16;
/// What a label takes where a line arrives.
const LABEL: i32 = 14;
/// How often the columns are put in order by what they are joined to.
const SWEEPS: usize = 6;

/// A box, or a lane for a line that passes the column.
#[derive(Debug, Clone, Copy)]
struct Item {
    column: usize,
    top: i32,
    height: i32,
}

impl Item {
    fn middle(self) -> i32 {
        self.top + self.height / 2
    }
}

/// A side of a box, or an end of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Left,
    Right,
}

/// An end of a line at a side of a box; they are sorted by where the line comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    from_y: i32,
    line: usize,
    end: Side,
}

/// A box in the picture.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spot {
    pub left: i32,
    pub top: i32,
    pub height: i32,
}

/// All edges from one node to another, as one line.
#[derive(Debug)]
pub(super) struct Line<'a> {
    pub edges: Vec<&'a Edge>,
    /// The points through which it goes, from the source on.
    pub points: Vec<(i32, i32)>,
    /// The items that it joins, from the left to the right; one column's boxes are joined on their right side.
    chain: Vec<usize>,
}

impl Line<'_> {
    fn is_bow(&self, items: &[Item]) -> bool {
        let ends = self.chain.first().zip(self.chain.last());
        ends.is_some_and(|(a, b)| items[*a].column == items[*b].column)
    }
}

/// A picture, before it is drawn.
#[derive(Debug, Default)]
pub(super) struct Layout<'a> {
    pub boxes: Vec<(&'a NodeId, Spot)>,
    pub lines: Vec<Line<'a>>,
    pub kinds: Vec<NodeKind>,
    pub width: i32,
    pub height: i32,
}

pub(super) fn lay_out(graph: &Graph) -> Layout<'_> {
    let mut kinds: Vec<NodeKind> = NodeKind::ALL.to_vec();
    kinds.retain(|kind| graph.nodes.keys().any(|node| node.kind() == *kind));
    let mut items = Vec::new();
    let mut columns = vec![Vec::new(); kinds.len()];
    let mut known = BTreeMap::new();
    let mut add = |column: usize, height: i32, items: &mut Vec<Item>| {
        items.push(Item { column, top: 0, height });
        columns[column].push(items.len() - 1);
        items.len() - 1
    };
    for node in graph.nodes.keys() {
        let column = kinds.iter().position(|kind| *kind == node.kind()).unwrap_or_default();
        known.insert(node, add(column, BOX_HEIGHT, &mut items));
    }
    let mut lines: Vec<Line<'_>> = Vec::new();
    for edge in graph.edges.values() {
        let ends = (known.get(&edge.from), known.get(&edge.to));
        let (Some(from), Some(to)) = ends else { continue };
        if let Some(line) = lines.last_mut()
            && let Some(first) = line.edges.first()
            && (&first.from, &first.to) == (&edge.from, &edge.to)
        {
            line.edges.push(edge);
            continue;
        }
        let (left, right) = if items[*from].column <= items[*to].column { (from, to) } else { (to, from) };
        let mut chain = vec![*left];
        for column in items[*left].column + 1..items[*right].column {
            chain.push(add(column, LANE, &mut items));
        }
        chain.push(*right);
        lines.push(Line { edges: vec![edge], points: Vec::new(), chain });
    }
    order(&mut columns, &lines, &items);
    grow(&mut items, &lines, &known);
    let height = stack(&columns, &mut items);
    connect(&mut lines, &items, &known);
    let boxes = known.iter().map(|(node, item)| {
        let Item { column, top, height } = items[*item];
        (*node, Spot { left: left(column), top, height })
    });
    let boxes = boxes.collect();
    let width = left(kinds.len()) - COLUMN + BOX_WIDTH + MARGIN + if kinds.is_empty() { COLUMN } else { 0 };
    // Boxes that are joined within the last column are joined beside it.
    let last = kinds.len().saturating_sub(1);
    let bow = lines.iter().any(|line| line.is_bow(&items) && items[line.chain[0]].column == last);
    Layout { boxes, lines, kinds, width: width + if bow { COLUMN - BOX_WIDTH } else { 0 }, height }
}

fn left(column: usize) -> i32 {
    MARGIN + COLUMN * i32::try_from(column).unwrap_or(i32::MAX / COLUMN / 2)
}

/// Puts each column in the order of what its items are joined to, so that few lines cross.
fn order(columns: &mut [Vec<usize>], lines: &[Line<'_>], items: &[Item]) {
    let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); items.len()];
    for pair in lines.iter().flat_map(|line| line.chain.windows(2)) {
        neighbours[pair[0]].push(pair[1]);
        neighbours[pair[1]].push(pair[0]);
    }
    for sweep in 0..SWEEPS {
        let mut places = vec![0.0; items.len()];
        for column in columns.iter() {
            column.iter().zip(0_u32..).for_each(|(item, place)| places[*item] = f64::from(place));
        }
        let forward = sweep % 2 == 0;
        for at in 0..columns.len() {
            let at = if forward { at } else { columns.len() - 1 - at };
            let side =
                |other: usize| if forward { items[other].column < at } else { items[other].column > at };
            let mean = |item: &usize| {
                let there: Vec<f64> = neighbours[*item]
                    .iter()
                    .filter(|other| side(**other))
                    .map(|other| places[*other])
                    .collect();
                match u32::try_from(there.len()) {
                    Ok(0) | Err(_) => places[*item],
                    Ok(count) => there.iter().sum::<f64>() / f64::from(count),
                }
            };
            let mut sorted: Vec<(f64, usize)> = columns[at].iter().map(|item| (mean(item), *item)).collect();
            sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
            columns[at] = sorted.into_iter().map(|(_, item)| item).collect();
            columns[at].iter().zip(0_u32..).for_each(|(item, place)| places[*item] = f64::from(place));
        }
    }
}

/// Makes boxes high enough for the labels of all lines that arrive at one of their sides.
fn grow(items: &mut [Item], lines: &[Line<'_>], known: &BTreeMap<&NodeId, usize>) {
    let mut arrive: BTreeMap<(usize, Side), i32> = BTreeMap::new();
    for line in lines {
        let Some(target) = line.edges.first().and_then(|edge| known.get(&edge.to)) else { continue };
        let is_left = line.chain.last() == Some(target) && !line.is_bow(items);
        let side = if is_left { Side::Left } else { Side::Right };
        *arrive.entry((*target, side)).or_default() += 1;
    }
    for ((item, _), labels) in arrive {
        items[item].height = items[item].height.max((labels + 1) * LABEL);
    }
}

/// Puts the items of each column one below the other, in the middle of the picture. Lanes lie close together.
fn stack(columns: &[Vec<usize>], items: &mut [Item]) -> i32 {
    let mut most = 0;
    for column in columns {
        let (mut bottom, mut before) = (0, None);
        for item in column {
            let height = items[*item].height;
            let gap = match before {
                None => 0,
                Some(LANE) if height == LANE => 2,
                Some(_) => BOX_GAP,
            };
            items[*item].top = bottom + gap;
            bottom += gap + height;
            before = Some(height);
        }
        most = most.max(bottom);
    }
    for column in columns {
        let bottom = column.last().map_or(0, |item| items[*item].top + items[*item].height);
        column.iter().for_each(|item| items[*item].top += TOP + (most - bottom) / 2);
    }
    TOP + most + MARGIN
}

/// Leads the lines: each leaves and arrives at a place of its own, in the order of where it comes from.
fn connect(lines: &mut [Line<'_>], items: &[Item], known: &BTreeMap<&NodeId, usize>) {
    let mut sides: BTreeMap<(usize, Side), Vec<End>> = BTreeMap::new();
    for (line, joined) in lines.iter().enumerate() {
        let (Some(first), Some(last)) = (joined.chain.first(), joined.chain.last()) else { continue };
        let next = joined.chain.get(1).unwrap_or(last);
        let before = joined.chain.iter().rev().nth(1).unwrap_or(first);
        let end = End { from_y: items[*next].middle(), line, end: Side::Left };
        sides.entry((*first, Side::Right)).or_default().push(end);
        let side = if joined.is_bow(items) { Side::Right } else { Side::Left };
        let end = End { from_y: items[*before].middle(), line, end: Side::Right };
        sides.entry((*last, side)).or_default().push(end);
    }
    let mut ports: BTreeMap<(usize, Side), i32> = BTreeMap::new();
    for ((item, _), mut ends) in sides {
        ends.sort_unstable();
        let count = i32::try_from(ends.len()).unwrap_or(1);
        for (End { line, end, .. }, at) in ends.into_iter().zip(1..) {
            ports.insert((line, end), items[item].top + items[item].height * at / (count + 1));
        }
    }
    for (number, line) in lines.iter_mut().enumerate() {
        let port = |end| ports.get(&(number, end)).copied().unwrap_or_default();
        let (Some(first), Some(last)) = (line.chain.first(), line.chain.last()) else { continue };
        let right = |item: &usize| left(items[*item].column) + BOX_WIDTH;
        let mut points = vec![(right(first), port(Side::Left))];
        for lane in line.chain.get(1..line.chain.len() - 1).unwrap_or_default() {
            let y = items[*lane].middle();
            points.extend([(left(items[*lane].column), y), (right(lane), y)]);
        }
        let end = if line.is_bow(items) { right(last) } else { left(items[*last].column) };
        points.push((end, port(Side::Right)));
        if line.edges.first().and_then(|edge| known.get(&edge.from)) != Some(first) {
            points.reverse();
        }
        line.points = points;
    }
}

//! Orders of events, and their transitive closure.
//!
//! In: orders, one after the other. Out: whether one event comes before another, by which orders, and the first order that
//! closes a cycle.

use super::{Ground, Order, OrderKind, Site};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

#[derive(Default)]
pub(super) struct Orders {
    pub sites: Vec<Site>,
    places: FxHashMap<Site, usize>,
    pub list: Vec<Order>,
    /// By event: the orders that begin with it.
    from: Vec<Vec<usize>>,
    /// By event: all that come later.
    later: Vec<FixedBitSet>,
}

impl Orders {
    pub fn contains(&self, site: Site) -> bool {
        self.places.contains_key(&site)
    }

    pub fn add_site(&mut self, site: Site) {
        self.places.insert(site, self.sites.len());
        self.sites.push(site);
        self.from.push(Vec::new());
        self.later.push(FixedBitSet::new());
    }

    /// Whether one event comes before another. Events that were not added come before nothing.
    pub fn before(&self, from: Site, to: Site) -> bool {
        match (self.places.get(&from), self.places.get(&to)) {
            (Some(&from), Some(&to)) => self.later[from].contains(to),
            _ => false,
        }
    }

    /// Adds an order; gives its place where it closes a cycle.
    pub fn add(&mut self, from: Site, to: Site, kind: OrderKind, ground: Ground) -> Option<usize> {
        let (first, second) = (*self.places.get(&from)?, *self.places.get(&to)?);
        let place = self.list.len();
        self.list.push(Order { from, to, kind, ground });
        self.from[first].push(place);
        if first == second || self.later[second].contains(first) {
            return Some(place);
        }
        let mut new = self.later[second].clone();
        new.grow(self.sites.len());
        new.insert(second);
        for earlier in 0..self.sites.len() {
            if earlier == first || self.later[earlier].contains(first) {
                self.later[earlier].union_with(&new);
            }
        }
        None
    }

    /// The fewest orders that lead from one event to another.
    pub fn path(&self, from: Site, to: Site) -> Vec<usize> {
        let (Some(&start), Some(&end)) = (self.places.get(&from), self.places.get(&to)) else { return Vec::new() };
        let mut by: Vec<Option<usize>> = vec![None; self.sites.len()];
        let mut waiting = VecDeque::from([start]);
        'search: while let Some(at) = waiting.pop_front() {
            for &order in &self.from[at] {
                let next = self.places[&self.list[order].to];
                if next != start && by[next].is_none() {
                    by[next] = Some(order);
                    if next == end {
                        break 'search;
                    }
                    waiting.push_back(next);
                }
            }
        }
        let mut path = Vec::new();
        let mut at = end;
        while let Some(order) = by[at] {
            path.push(order);
            at = self.places[&self.list[order].from];
        }
        path.reverse();
        path
    }

    /// The orders of a cycle and all that they rest on, with places in the new list.
    pub fn proof(&self, cycle: &[usize]) -> (Vec<Order>, Vec<usize>) {
        let mut needed: Vec<usize> = Vec::new();
        let mut waiting: Vec<usize> = cycle.to_vec();
        while let Some(order) = waiting.pop() {
            if !needed.contains(&order) {
                needed.push(order);
                match &self.list[order].ground {
                    Ground::Given => {}
                    Ground::Read { path, .. } | Ground::Bodies { path, .. } => waiting.extend(path),
                }
            }
        }
        // What an order rests on was there before it.
        needed.sort_unstable();
        let place = |order: &usize| needed.binary_search(order).unwrap_or_default();
        let renumbered = |path: &[usize]| path.iter().map(place).collect();
        let orders = needed.iter().map(|&order| {
            let order = &self.list[order];
            let ground = match &order.ground {
                Ground::Given => Ground::Given,
                Ground::Read { selection, path } => Ground::Read { selection: *selection, path: renumbered(path) },
                Ground::Bodies { lock, first, second, path } => {
                    Ground::Bodies { lock: *lock, first: *first, second: *second, path: renumbered(path) }
                }
            };
            Order { ground, ..order.clone() }
        });
        (orders.collect(), cycle.iter().map(place).collect())
    }
}

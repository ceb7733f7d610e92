//! Who moves next: policies, recorded schedules, traces.

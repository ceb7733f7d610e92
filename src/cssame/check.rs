//! Diagnostics of synchronisation and of concurrent reads.

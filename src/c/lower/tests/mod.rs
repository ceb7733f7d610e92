//! Small programs, one for each thing that is lowered.

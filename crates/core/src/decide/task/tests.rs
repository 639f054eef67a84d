//! Tests of the verbs of tasks.

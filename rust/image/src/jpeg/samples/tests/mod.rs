//! Tests of the sample half.

//! JPEG images (ITU T.81).
pub mod samples;

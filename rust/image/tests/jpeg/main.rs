//! The JPEG decoder against libjpeg.
mod data;
mod libjpeg;
mod modes;
mod whole;
mod windows;
mod scans;

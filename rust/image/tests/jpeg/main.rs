//! The JPEG decoder against libjpeg.
mod data;
mod entry;
mod libjpeg;
mod modes;
mod scans;
mod whole;
mod windows;

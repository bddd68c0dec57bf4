//! The JPEG decoder against libjpeg.
mod data;
mod entry;
mod libjpeg;
mod modes;
mod whole;
mod windows;
mod scans;

//! The JPEG decoder against libjpeg.
mod damage;
mod data;
mod entry;
mod judge;
mod libjpeg;
mod modes;
mod whole;
mod windows;
mod scans;

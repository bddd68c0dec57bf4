//! The JPEG decoder against libjpeg.
mod damage;
mod data;
mod entry;
mod header;
mod hostile_entry;
mod judge;
mod libjpeg;
mod modes;
mod scans;
mod truncated;
mod whole;
mod windows;

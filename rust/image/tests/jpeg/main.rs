//! Tests of the JPEG decoder. Most compare its pixels with those of libjpeg.
mod common;
mod compare;
mod damage;
mod decode;
mod entry_points;
mod header;
mod libjpeg;
mod truncated;

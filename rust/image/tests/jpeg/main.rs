//! Tests of the JPEG decoder, most of which compare its pixels with those of libjpeg.
mod common;
mod compare;
mod damage;
mod decode;
mod entry_points;
mod header;
mod libjpeg;
mod truncated;

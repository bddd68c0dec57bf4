//! Decodes the JPEG files or windows of a list repeatedly into a reused buffer. Prints the number of decoded images ten
//! times a second.
//!
//! Usage: jpeg_speed LIST plain|entry [digest]. With `entry`, decoding uses entry points at every row of MCUs. With
//! `digest`, the program decodes everything once and prints the count and the digest of the pixels.
use common::{ListItem, Outcome, read_list, repeat_forever};
use digest::PixelDigest;
use recordmill_image::jpeg::{Decoder, EntryPoints, Header, Options};
use recordmill_image::pixels::Window;
use std::hint::black_box;

mod common;
#[path = "common/digest.rs"]
mod digest;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [list, mode, rest @ ..] = arguments.as_slice() else {
        return Err("usage: jpeg_speed LIST plain|entry [digest]".into());
    };
    let items = read_list(list)?;
    let jobs: Vec<WindowJob> =
        items.iter().map(|item| WindowJob::new(item, mode == "entry")).collect::<Outcome<_>>()?;
    let mut out = vec![0; jobs.iter().map(WindowJob::num_output_bytes).max().unwrap_or(0)];
    let mut decoder = Decoder::new();
    if rest.is_empty() {
        return repeat_forever(&jobs, |job| job.decode_window(&mut decoder, &mut out));
    }
    let mut digest = PixelDigest::default();
    for job in &jobs {
        job.decode_window(&mut decoder, &mut out)?;
        digest.add_image(&out[..job.num_output_bytes()]);
    }
    digest.print();
    Ok(())
}

/// One window to decode, with the data of its file.
struct WindowJob<'a> {
    item: &'a ListItem,
    window: Window,
    /// Serialized entry points, which are parsed for each window.
    points: Option<Vec<u8>>,
}

impl<'a> WindowJob<'a> {
    fn new(item: &'a ListItem, with_points: bool) -> Outcome<Self> {
        let size = Header::parse(&item.data)?.size;
        let points = if with_points { Some(EntryPoints::build(&item.data, 1)?.to_bytes()?) } else { None };
        Ok(Self { item, window: item.window.unwrap_or(Window::whole(size)), points })
    }

    fn num_output_bytes(&self) -> usize {
        self.window.width * self.window.height * 3
    }

    fn decode_window(&self, decoder: &mut Decoder, out: &mut [u8]) -> Outcome {
        let points = self.points.as_ref().map(|bytes| EntryPoints::from_bytes(bytes)).transpose()?;
        let (data, stride) = (&self.item.data, self.window.width * 3);
        decoder.decode(data, self.item.window, &Options::default(), points.as_ref(), out, stride)?;
        black_box(&out);
        Ok(())
    }
}

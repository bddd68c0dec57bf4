//! The linear kernel for bytes: two taps across in 16 bits, two taps down by the upper halves of products, as OpenCV does it.
use super::coefficients::Taps;
#[cfg(target_arch = "x86_64")]
use super::two_tap_avx2;
use crate::geometry::dispatch::{self, Kernel};
use crate::geometry::view::View;
use crate::pixels::Window;
use std::ops::Range;

/// Columns that are made at once.
pub(super) const STEP: usize = 4;
/// Values that one load takes: two pixels and what is not used.
pub(super) const LOAD: usize = 8;
/// Values that one store takes.
pub(super) const STORE: usize = 8;

/// A part of a resized image: the taps of its columns and lines, which count from the corner of what they need.
pub(crate) struct Part {
    columns: Vec<Taps<2>>,
    lines: Vec<Taps<2>>,
    needs: Window,
}

impl Part {
    /// The `window` of an image whose columns and lines have the taps `columns` and `lines`.
    pub(super) fn new(mut columns: Vec<Taps<2>>, mut lines: Vec<Taps<2>>, window: Window) -> Self {
        // Across, a tap whose neighbors are cut off by the border weighs the border pixel alone.
        columns.iter_mut().for_each(|taps| *taps = taps.joined());
        let across = keep(&mut columns, window.x..window.x + window.width);
        let down = keep(&mut lines, window.y..window.y + window.height);
        let needs = Window { x: across.start, y: down.start, width: across.len(), height: down.len() };
        Self { columns, lines, needs }
    }

    /// The part of the source that is read.
    pub fn source_window(&self) -> Window {
        self.needs
    }

    /// The two rows of that part that each row of the output is between.
    pub fn lines(&self) -> impl Iterator<Item = [usize; 2]> {
        self.lines.iter().map(|taps| taps.places)
    }

    /// A reader of what the part needs, mirrored left to right when `flip` is set.
    pub fn reader(mut self, source: View<'_, u8>, flip: bool) -> Reader<'_> {
        if flip {
            self.columns.reverse();
        }
        Reader::new(source, self.columns, self.lines)
    }
}

/// Keeps the taps of `part`; places count from the first that is read, and those read are returned.
fn keep(taps: &mut Vec<Taps<2>>, part: Range<usize>) -> Range<usize> {
    taps.truncate(part.end);
    taps.drain(..part.start);
    let places = || taps.iter().flat_map(|taps| taps.places);
    let needs = places().min().unwrap_or(0)..places().max().map_or(0, |last| last + 1);
    for taps in taps {
        taps.places = taps.places.map(|place| place - needs.start);
    }
    needs
}

/// Rows of the output from the top.
pub(crate) struct Reader<'a> {
    source: View<'a, u8>,
    length: usize,
    columns: Columns,
    lines: Vec<Taps<2>>,
    padded: Vec<u8>,
    /// Source row `y` resized across stands at `y % 2`, if the number beside it says so.
    kept: [(usize, Vec<i16>); 2],
}

/// Where each column begins among the values of a row, and the weights of its taps.
pub(super) struct Columns {
    pub starts: Vec<u32>,
    pub weights: Vec<[i16; 2]>,
    /// Values of a row that are read, those beyond its end among them.
    pub reach: usize,
}

impl Columns {
    fn new(taps: Vec<Taps<2>>, channels: usize) -> Self {
        let whole = taps.len().next_multiple_of(STEP);
        let mut starts: Vec<u32> = taps.iter().map(|taps| (taps.places[0] * channels) as u32).collect();
        let mut weights: Vec<[i16; 2]> = taps.iter().map(|taps| taps.weights.map(|weight| weight as i16)).collect();
        let reach = starts.iter().copied().max().unwrap_or(0) as usize + LOAD;
        starts.resize(whole, 0);
        weights.resize(whole, [0; 2]);
        Self { starts, weights, reach }
    }
}

impl<'a> Reader<'a> {
    /// A reader of `source` with the taps of each axis.
    fn new(source: View<'a, u8>, across: Vec<Taps<2>>, lines: Vec<Taps<2>>) -> Self {
        let channels = source.channels();
        let length = across.len() * channels;
        let columns = Columns::new(across, channels);
        let row = || (usize::MAX, vec![0; columns.starts.len() * channels + STORE]);
        Self { source, length, lines, padded: Vec::new(), kept: [row(), row()], columns }
    }

    /// Output row `y`.
    pub fn read(&mut self, y: usize, output: &mut [u8]) {
        let Taps { places, weights, .. } = self.lines[y];
        for place in places {
            if self.kept[place % 2].0 != place {
                self.stretch(place);
            }
        }
        let rows = places.map(|place| &self.kept[place % 2].1[..self.length]);
        dispatch::run(Down { rows, weights: weights.map(|weight| weight as i16), output });
    }

    fn stretch(&mut self, y: usize) {
        let Self { source, columns, padded, kept, .. } = self;
        let mut row = source.row_to_end(y);
        if row.len() < columns.reach {
            padded.clear();
            padded.extend_from_slice(row);
            padded.resize(columns.reach, 0);
            row = padded;
        }
        let (place, output) = &mut kept[y % 2];
        *place = y;
        match source.channels() {
            1 => across::<1>(row, columns, output),
            2 => across::<2>(row, columns, output),
            3 => across::<3>(row, columns, output),
            _ => across::<4>(row, columns, output),
        }
    }
}

fn across<const CHANNELS: usize>(row: &[u8], columns: &Columns, output: &mut [i16]) {
    #[cfg(target_arch = "x86_64")]
    if dispatch::has_avx2() {
        // SAFETY: the function needs AVX2 alone, and `has_avx2` has just found it on this machine.
        #[allow(unsafe_code)]
        return unsafe { two_tap_avx2::across::<CHANNELS>(row, columns, output) };
    }
    dispatch::run(Across::<CHANNELS> { row, columns, output });
}

/// A row of `CHANNELS` per pixel resized across, four bits less exact than its products.
struct Across<'a, const CHANNELS: usize> {
    row: &'a [u8],
    columns: &'a Columns,
    output: &'a mut [i16],
}

impl<const CHANNELS: usize> Kernel for Across<'_, CHANNELS> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (pixels, _) = self.output.as_chunks_mut::<CHANNELS>();
        for ((pixel, start), [left, right]) in pixels.iter_mut().zip(&self.columns.starts).zip(&self.columns.weights) {
            let from: &[u8; LOAD] = self.row[*start as usize..].first_chunk().expect("the row is padded");
            let part = |place: usize, weight: i16| i32::from(from[place]) * i32::from(weight);
            *pixel =
                std::array::from_fn(|channel| ((part(channel, *left) + part(channel + CHANNELS, *right)) >> 4) as i16);
        }
    }
}

struct Down<'a> {
    rows: [&'a [i16]; 2],
    weights: [i16; 2],
    output: &'a mut [u8],
}

impl Kernel for Down<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let [first, second] = self.weights;
        let upper_half = |value: i16, weight: i16| ((i32::from(value) * i32::from(weight)) >> 16) as i16;
        for ((to, upper), lower) in self.output.iter_mut().zip(self.rows[0]).zip(self.rows[1]) {
            let sum = upper_half(*upper, first) + upper_half(*lower, second);
            *to = ((sum + 2) >> 2) as u8;
        }
    }
}

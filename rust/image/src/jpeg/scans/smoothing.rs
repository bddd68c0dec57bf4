//! Low frequencies that a progressive image lacks, estimated from the DC of 5 × 5 blocks (T.81 K.8) as libjpeg-turbo 2.1.0 to 2.1.4
//! do; later ones look at other rows.
use super::coefficients::Grid;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::jpeg::header::frame::{Coding, Frame, Scan};
use crate::jpeg::header::tables::Quantization;
use crate::jpeg::samples::{Block, NATURAL_ORDER};

/// Blocks across and down that an estimate takes into account.
const SIDE: usize = 5;
type Weights = [[i64; SIDE]; SIDE];

/// Where no AC coefficient is known: weights for DC, and for those that follow in order of transmission.
const DC_ONLY_WEIGHTS: [Weights; NUM_SMOOTHED] = [
    [[-2, -6, -8, -6, -2], [-6, 6, 42, 6, -6], [-8, 42, 152, 42, -8], [-6, 6, 42, 6, -6], [-2, -6, -8, -6, -2]],
    AC01,
    transpose(AC01),
    transpose(AC02),
    [[-1, 0, 0, 0, 1], [0, 9, 0, -9, 0], [0; 5], [0, -9, 0, 9, 0], [1, 0, 0, 0, -1]],
    AC02,
    AC03,
    AC12,
    transpose(AC12),
    transpose(AC03),
];
const AC01: Weights =
    [[-1, -1, 0, 1, 1], [-3, 13, 0, -13, 3], [-3, 38, 0, -38, 3], [-3, 13, 0, -13, 3], [-1, -1, 0, 1, 1]];
const AC02: Weights = [[0; 5], [0, 2, -5, 2, 0], [1, 7, -14, 7, 1], [0, 2, -5, 2, 0], [0; 5]];
const AC03: Weights = [[0; 5], [0, 1, 0, -1, 0], [0, 2, 0, -2, 0], [0, 1, 0, -1, 0], [0; 5]];
const AC12: Weights = [[0; 5], [0, 1, -3, 1, 0], [0; 5], [0, -1, 3, -1, 0], [0; 5]];

/// Where some are: DC is as it is, and so are those that the others leave out.
const SOME_AC_WEIGHTS: [Weights; 6] = [
    [[0; 5]; 5],
    SOME_AC01,
    transpose(SOME_AC01),
    transpose(SOME_AC02),
    [[0, -1, 0, 1, 0], [-1, 10, 0, -10, 1], [0; 5], [1, -10, 0, 10, -1], [0, 1, 0, -1, 0]],
    SOME_AC02,
];
const SOME_AC01: Weights = [[0; 5], [0; 5], [-7, 50, 0, -50, 7], [0; 5], [0; 5]];
const SOME_AC02: Weights = [[0; 5], [0; 5], [-1, 13, -24, 13, -1], [0; 5], [0; 5]];

const fn transpose(weights: Weights) -> Weights {
    let (mut transposed, mut row) = ([[0; SIDE]; SIDE], 0);
    while row < SIDE {
        let mut column = 0;
        while column < SIDE {
            transposed[column][row] = weights[row][column];
            column += 1;
        }
        row += 1;
    }
    transposed
}

/// What is estimated of an image.
pub(in crate::jpeg) struct BlockSmoothing {
    components: Vec<Component>,
    /// The last row of MCUs that the data of the last scan reached.
    last_good: usize,
    num_mcu_rows: usize,
}

struct Component {
    /// Missing bits up to the last good row, and below.
    missing: [[i32; NUM_SMOOTHED]; 2],
    quantization: [i64; NUM_SMOOTHED],
    /// Blocks across and down.
    columns: usize,
    rows: usize,
    /// Blocks down an MCU.
    v: usize,
}

impl BlockSmoothing {
    /// What to estimate after all scans; none if there is nothing to, or if libjpeg does not.
    pub(in crate::jpeg) fn new(
        frame: &Frame,
        coefficient_bits: &CoefficientBits,
        quantization: &[Option<Quantization>],
        last_good: usize,
    ) -> Option<Self> {
        if frame.coding != Coding::Progressive {
            return None;
        }
        let mut components = Vec::new();
        for (index, table) in quantization.iter().enumerate() {
            let table = table.as_ref()?;
            let (missing, size) = (coefficient_bits.low(index), frame.blocks(index));
            let quantization = std::array::from_fn(|place| i64::from(table[usize::from(NATURAL_ORDER[place])]));
            if quantization.contains(&0) || missing[0][0] == NOT_RECEIVED {
                return None;
            }
            let v = frame.components[index].v;
            components.push(Component { missing, quantization, columns: size.width, rows: size.height, v });
        }
        let is_useful = components.iter().any(|component| component.missing[0][1..].iter().any(|&bits| bits != 0));
        is_useful.then_some(Self { components, last_good, num_mcu_rows: frame.mcus().height })
    }

    /// The block of component `index` at `column` and `row`, with smoothing in place of what is missing.
    pub(in crate::jpeg) fn block(&self, grid: &Grid, index: usize, (column, row): (usize, usize)) -> Block {
        let component = &self.components[index];
        let mut block = grid.blocks[row * grid.columns + column];
        if column >= component.columns || row >= component.rows {
            return block;
        }
        let missing = &component.missing[usize::from(row / component.v > self.last_good)];
        let is_dc_only = missing[1..].iter().all(|&bits| bits == NOT_RECEIVED);
        let weights: &[Weights] = if is_dc_only { &DC_ONLY_WEIGHTS } else { &SOME_AC_WEIGHTS };
        let (columns, rows) = (component.nearby_columns(column), self.nearby_rows(component, row));
        let dc = rows.map(|row| columns.map(|column| i64::from(grid.blocks[row * grid.columns + column][0])));
        for (place, weights) in weights.iter().enumerate() {
            let value = &mut block[usize::from(NATURAL_ORDER[place])];
            let bits = missing[place];
            if place > 0 && (bits == 0 || *value != 0) || place == 0 && !is_dc_only {
                continue;
            }
            let products = weights.iter().flatten().zip(dc.iter().flatten()).map(|(weight, dc)| weight * dc);
            let sum = products.sum::<i64>() * component.quantization[0];
            *value = rounded(sum, component.quantization[place], if place > 0 { bits } else { NOT_RECEIVED });
        }
        block
    }

    /// Rows from two above to two below, as far as libjpeg-turbo 2.1 looks: the second one only within the MCU, or beyond the next.
    fn nearby_rows(&self, component: &Component, row: usize) -> [usize; SIDE] {
        let (mcu_row, inside, last) = (row / component.v, row % component.v, self.num_mcu_rows - 1);
        let in_mcu = match component.rows % component.v {
            rest if mcu_row == last && rest > 0 => rest,
            _ => component.v,
        };
        let above = if inside > 0 || mcu_row > 0 { row - 1 } else { row };
        let top = if inside > 1 || mcu_row > 1 { row - 2 } else { above };
        let below = if inside + 1 < in_mcu || mcu_row < last { row + 1 } else { row };
        let bottom = if inside + 2 < in_mcu || mcu_row + 1 < last { row + 2 } else { below };
        [top, above, row, below, bottom]
    }
}

impl Component {
    /// Columns from two to the left to two to the right, within the image. Of two, the left one stands for what is beyond the right.
    fn nearby_columns(&self, column: usize) -> [usize; SIDE] {
        let last = self.columns - 1;
        std::array::from_fn(|step| match (column + step).saturating_sub(2) {
            beyond if beyond > last && last == 1 => 0,
            nearby => nearby.min(last),
        })
    }
}

/// A coefficient from 256 times its value before quantization; less than the bits that are known.
fn rounded(sum: i64, quantization: i64, bits: i32) -> i16 {
    let mut size = ((quantization << 7) + sum.abs()) / (quantization << 8);
    if bits > 0 {
        size = size.min((1 << bits) - 1);
    }
    (size * sum.signum()) as i16
}

// Which bits of which coefficients the scans of a progressive image have brought so far (T.81 G.1.1.1).

/// Coefficients, in order of transmission, that libjpeg smoothing where a file does not bring them in full, and DC.
pub(in crate::jpeg) const NUM_SMOOTHED: usize = 10;
/// Of a coefficient that no scan has brought.
pub(in crate::jpeg) const NOT_RECEIVED: i32 = -1;

/// For each component, how many low bits of its coefficients are missing.
pub(in crate::jpeg) struct CoefficientBits {
    missing: Vec<[i32; 64]>,
    /// The same of low frequencies, as libjpeg remembers it from before the last scan of the component.
    before: Vec<[i32; NUM_SMOOTHED]>,
    num_scans: usize,
}

impl CoefficientBits {
    /// Nothing yet of `num_components` components.
    pub(in crate::jpeg) fn new(num_components: usize) -> Self {
        Self {
            missing: vec![[NOT_RECEIVED; 64]; num_components],
            before: vec![[NOT_RECEIVED; NUM_SMOOTHED]; num_components],
            num_scans: 0,
        }
    }

    /// Takes note of `scan`, which must go on where earlier scans ended.
    pub(in crate::jpeg) fn add(&mut self, scan: &Scan) -> Result<()> {
        for component in &scan.components {
            let missing = &self.missing[component.index];
            if scan.start > 0 && missing[0] == NOT_RECEIVED {
                return Err(fault(scan, "a DC scan before any other", "none"));
            }
            for &bits in &missing[scan.start..=scan.end] {
                let expected = bits.max(0) as u32;
                if scan.high != expected {
                    return Err(fault(scan, &format!("refinement of bit {expected}"), &format!("bit {}", scan.high)));
                }
            }
        }
        self.note(scan);
        Ok(())
    }

    /// Takes note of `scan`, whatever came before it.
    pub(in crate::jpeg) fn note(&mut self, scan: &Scan) {
        for component in &scan.components {
            let (missing, before) = (&mut self.missing[component.index], &mut self.before[component.index]);
            for place in scan.start.min(1)..NUM_SMOOTHED {
                before[place] = if self.num_scans > 0 { missing[place] } else { 0 };
            }
            missing[scan.start..=scan.end].fill(scan.low as i32);
        }
        self.num_scans += 1;
    }

    /// Refuses an image whose low frequencies are incomplete: versions of libjpeg make up different ones.
    pub(in crate::jpeg) fn check_complete(&self, offset: usize) -> Result<()> {
        if self.missing.iter().any(|missing| missing[1..NUM_SMOOTHED].iter().any(|&bits| bits != 0)) {
            let expected = "all low frequencies in full";
            return Err(ImageFault::new(ImageFaultKind::Unsupported, offset, expected, "a part of them"));
        }
        Ok(())
    }

    /// Low bits that are missing of the low frequencies of a component: now, and in front of its last scan.
    pub(in crate::jpeg) fn low(&self, component: usize) -> [[i32; NUM_SMOOTHED]; 2] {
        let now = std::array::from_fn(|place| self.missing[component][place]);
        [now, if self.num_scans > 1 { self.before[component] } else { [NOT_RECEIVED; NUM_SMOOTHED] }]
    }
}

fn fault(scan: &Scan, expected: &str, found: &str) -> ImageFault {
    ImageFault::new(ImageFaultKind::BadScan, scan.offset, expected, found)
}

//! Block smoothing (T.81 K.8): estimates the low-frequency coefficients that an incomplete progressive image lacks from
//! the DC coefficients of 5 × 5 blocks. It matches libjpeg-turbo 2.1.0 to 2.1.4; later versions use other rows.
use super::coefficients::Grid;
use crate::fault::{ImageFault, ImageFaultKind, Result};
use crate::jpeg::header::frame::{Coding, Frame, Scan};
use crate::jpeg::header::tables::Quantization;
use crate::jpeg::samples::{Block, NATURAL_ORDER};

/// Number of blocks across and down that contribute to an estimate.
const SIDE: usize = 5;
type Weights = [[i64; SIDE]; SIDE];

/// Weights of the nearby DC values, for images of which no AC coefficient is known. Entry `n` estimates the coefficient
/// with zig-zag index `n`; entry 0 estimates DC.
const DC_ONLY_WEIGHTS: [Weights; NUM_SMOOTHED] = [
    [[-2, -6, -8, -6, -2], [-6, 6, 42, 6, -6], [-8, 42, 152, 42, -8], [-6, 6, 42, 6, -6], [-2, -6, -8, -6, -2]],
    AC01,
    transpose_weights(AC01),
    transpose_weights(AC02),
    [[-1, 0, 0, 0, 1], [0, 9, 0, -9, 0], [0; 5], [0, -9, 0, 9, 0], [1, 0, 0, 0, -1]],
    AC02,
    AC03,
    AC12,
    transpose_weights(AC12),
    transpose_weights(AC03),
];
const AC01: Weights =
    [[-1, -1, 0, 1, 1], [-3, 13, 0, -13, 3], [-3, 38, 0, -38, 3], [-3, 13, 0, -13, 3], [-1, -1, 0, 1, 1]];
const AC02: Weights = [[0; 5], [0, 2, -5, 2, 0], [1, 7, -14, 7, 1], [0, 2, -5, 2, 0], [0; 5]];
const AC03: Weights = [[0; 5], [0, 1, 0, -1, 0], [0, 2, 0, -2, 0], [0, 1, 0, -1, 0], [0; 5]];
const AC12: Weights = [[0; 5], [0, 1, -3, 1, 0], [0; 5], [0, -1, 3, -1, 0], [0; 5]];

/// Weights for images of which some AC coefficients are known. DC is not changed, and fewer coefficients are estimated.
const SOME_AC_WEIGHTS: [Weights; 6] = [
    [[0; 5]; 5],
    SOME_AC01,
    transpose_weights(SOME_AC01),
    transpose_weights(SOME_AC02),
    [[0, -1, 0, 1, 0], [-1, 10, 0, -10, 1], [0; 5], [1, -10, 0, 10, -1], [0, 1, 0, -1, 0]],
    SOME_AC02,
];
const SOME_AC01: Weights = [[0; 5], [0; 5], [-7, 50, 0, -50, 7], [0; 5], [0; 5]];
const SOME_AC02: Weights = [[0; 5], [0; 5], [-1, 13, -24, 13, -1], [0; 5], [0; 5]];

const fn transpose_weights(weights: Weights) -> Weights {
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

/// Block smoothing of one image.
pub(in crate::jpeg) struct BlockSmoothing {
    components: Vec<SmoothedComponent>,
    /// The last row of MCUs for which the last scan had data.
    last_good: usize,
    num_mcu_rows: usize,
}

struct SmoothedComponent {
    /// Number of missing low bits of each coefficient: in the rows of MCUs up to `BlockSmoothing::last_good`, and in
    /// the rows below.
    missing: [[i32; NUM_SMOOTHED]; 2],
    quantization: [i64; NUM_SMOOTHED],
    /// Number of blocks across that hold samples.
    columns: usize,
    /// Number of blocks down that hold samples.
    rows: usize,
    /// Number of blocks down an MCU.
    v: usize,
}

impl BlockSmoothing {
    /// Creates the smoothing to apply after all scans. Returns `None` if all coefficients are known, or if libjpeg does
    /// not smooth such an image.
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
            let quantization = std::array::from_fn(|index| i64::from(table[usize::from(NATURAL_ORDER[index])]));
            if quantization.contains(&0) || missing[0][0] == NOT_RECEIVED {
                return None;
            }
            let v = frame.components[index].v;
            components.push(SmoothedComponent { missing, quantization, columns: size.width, rows: size.height, v });
        }
        let is_useful = components.iter().any(|component| component.missing[0][1..].iter().any(|&bits| bits != 0));
        is_useful.then_some(Self { components, last_good, num_mcu_rows: frame.mcus().height })
    }

    /// Returns the block of component `index` at `column` and `row` with estimates in place of missing coefficients.
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
        for (index, weights) in weights.iter().enumerate() {
            let value = &mut block[usize::from(NATURAL_ORDER[index])];
            let bits = missing[index];
            if index > 0 && (bits == 0 || *value != 0) || index == 0 && !is_dc_only {
                continue;
            }
            let products = weights.iter().flatten().zip(dc.iter().flatten()).map(|(weight, dc)| weight * dc);
            let sum = products.sum::<i64>() * component.quantization[0];
            *value =
                dequantized_estimate(sum, component.quantization[index], if index > 0 { bits } else { NOT_RECEIVED });
        }
        block
    }

    /// Returns the rows of blocks from two above `row` to two below it, as libjpeg-turbo 2.1 selects them. An outer row
    /// is used only if it is in the same MCU, or if two more rows of MCUs follow on its side. Otherwise the adjacent
    /// row is repeated.
    fn nearby_rows(&self, component: &SmoothedComponent, row: usize) -> [usize; SIDE] {
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

impl SmoothedComponent {
    /// Returns the columns of blocks from two left of `column` to two right of it, clamped to the image. If the image
    /// has only two columns, the left column replaces those past the right edge.
    fn nearby_columns(&self, column: usize) -> [usize; SIDE] {
        let last = self.columns - 1;
        std::array::from_fn(|step| match (column + step).saturating_sub(2) {
            beyond if beyond > last && last == 1 => 0,
            nearby => nearby.min(last),
        })
    }
}

/// Divides and rounds `sum`, which is 256 times a coefficient before quantization. If `bits` low bits of the
/// coefficient are missing, the magnitude is limited to `bits` bits.
fn dequantized_estimate(sum: i64, quantization: i64, bits: i32) -> i16 {
    let mut size = ((quantization << 7) + sum.abs()) / (quantization << 8);
    if bits > 0 {
        size = size.min((1 << bits) - 1);
    }
    (size * sum.signum()) as i16
}

/// Number of coefficients, in zig-zag order from DC, that libjpeg smooths if a file does not have them at full
/// precision.
pub(in crate::jpeg) const NUM_SMOOTHED: usize = 10;
/// Value in `missing` and `before` for a coefficient that no scan has contained.
pub(in crate::jpeg) const NOT_RECEIVED: i32 = -1;

/// For each component, the number of low bits of each coefficient that the scans so far lack (T.81 G.1.1.1).
pub(in crate::jpeg) struct CoefficientBits {
    missing: Vec<[i32; 64]>,
    /// The number of missing low bits of the low-frequency coefficients before the last scan of each component, as
    /// libjpeg stores it.
    before: Vec<[i32; NUM_SMOOTHED]>,
    num_scans: usize,
}

impl CoefficientBits {
    /// Creates the initial state, in which no coefficient of `num_components` components is known.
    pub(in crate::jpeg) fn new(num_components: usize) -> Self {
        Self {
            missing: vec![[NOT_RECEIVED; 64]; num_components],
            before: vec![[NOT_RECEIVED; NUM_SMOOTHED]; num_components],
            num_scans: 0,
        }
    }

    /// Records `scan`. Returns an error if it does not continue where earlier scans ended.
    pub(in crate::jpeg) fn add(&mut self, scan: &Scan) -> Result<()> {
        for component in &scan.components {
            let missing = &self.missing[component.index];
            if scan.start > 0 && missing[0] == NOT_RECEIVED {
                return Err(scan_order_fault(scan, "a DC scan before any other", "none"));
            }
            for &bits in &missing[scan.start..=scan.end] {
                let expected = bits.max(0) as u32;
                if scan.high != expected {
                    return Err(scan_order_fault(
                        scan,
                        &format!("refinement of bit {expected}"),
                        &format!("bit {}", scan.high),
                    ));
                }
            }
        }
        self.note(scan);
        Ok(())
    }

    /// Records `scan` without checking it against earlier scans.
    pub(in crate::jpeg) fn note(&mut self, scan: &Scan) {
        for component in &scan.components {
            let (missing, before) = (&mut self.missing[component.index], &mut self.before[component.index]);
            for index in scan.start.min(1)..NUM_SMOOTHED {
                before[index] = if self.num_scans > 0 { missing[index] } else { 0 };
            }
            missing[scan.start..=scan.end].fill(scan.low as i32);
        }
        self.num_scans += 1;
    }

    /// Rejects an image whose low-frequency coefficients are incomplete, because versions of libjpeg estimate them
    /// differently.
    pub(in crate::jpeg) fn check_complete(&self, offset: usize) -> Result<()> {
        if self.missing.iter().any(|missing| missing[1..NUM_SMOOTHED].iter().any(|&bits| bits != 0)) {
            let expected = "all low-frequency coefficients at full precision";
            return Err(ImageFault::new(ImageFaultKind::Unsupported, offset, expected, "only some of their bits"));
        }
        Ok(())
    }

    /// Returns the number of missing low bits of a component's low-frequency coefficients: now, and before its last
    /// scan.
    pub(in crate::jpeg) fn low(&self, component: usize) -> [[i32; NUM_SMOOTHED]; 2] {
        let now = std::array::from_fn(|index| self.missing[component][index]);
        [now, if self.num_scans > 1 { self.before[component] } else { [NOT_RECEIVED; NUM_SMOOTHED] }]
    }
}

fn scan_order_fault(scan: &Scan, expected: &str, found: &str) -> ImageFault {
    ImageFault::new(ImageFaultKind::BadScan, scan.offset, expected, found)
}

//! Low frequencies that a progressive image lacks, estimated from the DC of 5 × 5 blocks (T.81 K.8) as libjpeg-turbo 2.1.0 to 2.1.4
//! do; later ones look at other rows.
use super::progress::{ALL, LOW, Progress};
use super::store::Grid;
use crate::jpeg::header::frame::{Coding, Frame};
use crate::jpeg::header::tables::Quantization;
use crate::jpeg::samples::Block;
use crate::jpeg::zigzag::NATURAL;

/// Blocks across and down that an estimate takes into account.
const SIDE: usize = 5;
type Weights = [[i64; SIDE]; SIDE];

/// Where no AC coefficient is known: weights for DC, and for those that follow in order of transmission.
const SMOOTH: [Weights; LOW] = [
    [[-2, -6, -8, -6, -2], [-6, 6, 42, 6, -6], [-8, 42, 152, 42, -8], [-6, 6, 42, 6, -6], [-2, -6, -8, -6, -2]],
    AC01,
    turned(AC01),
    turned(AC02),
    [[-1, 0, 0, 0, 1], [0, 9, 0, -9, 0], [0; 5], [0, -9, 0, 9, 0], [1, 0, 0, 0, -1]],
    AC02,
    AC03,
    AC12,
    turned(AC12),
    turned(AC03),
];
const AC01: Weights =
    [[-1, -1, 0, 1, 1], [-3, 13, 0, -13, 3], [-3, 38, 0, -38, 3], [-3, 13, 0, -13, 3], [-1, -1, 0, 1, 1]];
const AC02: Weights = [[0; 5], [0, 2, -5, 2, 0], [1, 7, -14, 7, 1], [0, 2, -5, 2, 0], [0; 5]];
const AC03: Weights = [[0; 5], [0, 1, 0, -1, 0], [0, 2, 0, -2, 0], [0, 1, 0, -1, 0], [0; 5]];
const AC12: Weights = [[0; 5], [0, 1, -3, 1, 0], [0; 5], [0, -1, 3, -1, 0], [0; 5]];

/// Where some are: DC is as it is, and so are those that the others leave out.
const SHARP: [Weights; 6] = [
    [[0; 5]; 5],
    SHARP01,
    turned(SHARP01),
    turned(SHARP02),
    [[0, -1, 0, 1, 0], [-1, 10, 0, -10, 1], [0; 5], [1, -10, 0, 10, -1], [0, 1, 0, -1, 0]],
    SHARP02,
];
const SHARP01: Weights = [[0; 5], [0; 5], [-7, 50, 0, -50, 7], [0; 5], [0; 5]];
const SHARP02: Weights = [[0; 5], [0; 5], [-1, 13, -24, 13, -1], [0; 5], [0; 5]];

const fn turned(weights: Weights) -> Weights {
    let (mut turned, mut row) = ([[0; SIDE]; SIDE], 0);
    while row < SIDE {
        let mut column = 0;
        while column < SIDE {
            turned[column][row] = weights[row][column];
            column += 1;
        }
        row += 1;
    }
    turned
}

/// What is estimated of an image.
pub(in crate::jpeg) struct Estimates {
    components: Vec<Component>,
    /// The last row of MCUs that the data of the last scan reached.
    last_good: usize,
    num_mcu_rows: usize,
}

struct Component {
    /// Missing bits up to the last good row, and below.
    missing: [[i32; LOW]; 2],
    quantization: [i64; LOW],
    /// Blocks across and down.
    columns: usize,
    rows: usize,
    /// Blocks down an MCU.
    v: usize,
}

impl Estimates {
    /// What to estimate after all scans; none if there is nothing to, or if libjpeg does not.
    pub(in crate::jpeg) fn new(
        frame: &Frame,
        progress: &Progress,
        quantization: &[Option<Quantization>],
        last_good: usize,
    ) -> Option<Self> {
        if frame.coding != Coding::Progressive {
            return None;
        }
        let mut components = Vec::new();
        for (index, table) in quantization.iter().enumerate() {
            let table = table.as_ref()?;
            let (missing, size) = (progress.low(index), frame.blocks(index));
            let quantization = std::array::from_fn(|place| i64::from(table[usize::from(NATURAL[place])]));
            if quantization.contains(&0) || missing[0][0] == ALL {
                return None;
            }
            let v = frame.components[index].v;
            components.push(Component { missing, quantization, columns: size.width, rows: size.height, v });
        }
        let is_useful = components.iter().any(|component| component.missing[0][1..].iter().any(|&bits| bits != 0));
        is_useful.then_some(Self { components, last_good, num_mcu_rows: frame.mcus().height })
    }

    /// The block of component `index` at `column` and `row`, with estimates in place of what is missing.
    pub(in crate::jpeg) fn block(&self, grid: &Grid, index: usize, (column, row): (usize, usize)) -> Block {
        let component = &self.components[index];
        let mut block = grid.blocks[row * grid.columns + column];
        if column >= component.columns || row >= component.rows {
            return block;
        }
        let missing = &component.missing[usize::from(row / component.v > self.last_good)];
        let is_smooth = missing[1..].iter().all(|&bits| bits == ALL);
        let weights: &[Weights] = if is_smooth { &SMOOTH } else { &SHARP };
        let (columns, rows) = (component.nearby_columns(column), self.nearby_rows(component, row));
        let dc = rows.map(|row| columns.map(|column| i64::from(grid.blocks[row * grid.columns + column][0])));
        for (place, weights) in weights.iter().enumerate() {
            let value = &mut block[usize::from(NATURAL[place])];
            let bits = missing[place];
            if place > 0 && (bits == 0 || *value != 0) || place == 0 && !is_smooth {
                continue;
            }
            let products = weights.iter().flatten().zip(dc.iter().flatten()).map(|(weight, dc)| weight * dc);
            let sum = products.sum::<i64>() * component.quantization[0];
            *value = rounded(sum, component.quantization[place], if place > 0 { bits } else { ALL });
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

//! From stored coefficients to a picture.
use super::store::Grid;
use crate::jpeg::picture::{Picture, Target};
use crate::jpeg::samples::{Job, Kernel, Transform};

/// The transformation of all blocks that a picture needs.
pub(in crate::jpeg) struct Render<'j, 't> {
    pub(in crate::jpeg) grids: &'j [Grid],
    pub(in crate::jpeg) transforms: &'j [Transform],
    pub(in crate::jpeg) picture: &'j mut Picture,
    pub(in crate::jpeg) target: &'j mut Target<'t>,
}

impl Job for Render<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) {
        let Self { grids, transforms, picture, target } = self;
        for mcu_row in picture.mcu_rows.clone() {
            for (index, grid) in grids.iter().enumerate().take(picture.planes.len()) {
                render_row(kernel, grid, &transforms[index], picture, index, mcu_row);
            }
            picture.finish_rows(kernel, mcu_row, target);
        }
    }
}

/// Transforms the blocks of one component in MCU row `mcu_row`. One that no scan brought is level.
#[inline(always)]
fn render_row<K: Kernel>(
    kernel: K,
    grid: &Grid,
    transform: &Transform,
    picture: &mut Picture,
    index: usize,
    mcu_row: usize,
) {
    let mcu_columns = picture.mcu_columns.clone();
    let plane = &mut picture.planes[index];
    let ((h, v), stride) = (plane.mcu_blocks(), plane.stride());
    for row in 0..v {
        for column in 0..mcu_columns.len() * h {
            let origin = plane.origins(column, row)[mcu_row % 2];
            let at = (mcu_row * v + row) * grid.columns + mcu_columns.start * h + column;
            let (block, last) = if grid.is_set_up() { (&grid.blocks[at], grid.last[at]) } else { (&[0; 64], 0) };
            transform.block(kernel, block, last.into(), plane.samples_mut(origin), stride);
        }
    }
}

//! From stored coefficients to a picture.
use super::estimate::Estimates;
use super::store::Grid;
use crate::jpeg::picture::{Picture, Target};
use crate::jpeg::samples::{Job, Kernel, Transform};

/// The transformation of all blocks that a picture needs.
pub(in crate::jpeg) struct Render<'j, 't> {
    pub(in crate::jpeg) grids: &'j [Grid],
    pub(in crate::jpeg) estimates: Option<&'j Estimates>,
    pub(in crate::jpeg) transforms: &'j [Transform],
    pub(in crate::jpeg) picture: &'j mut Picture,
    pub(in crate::jpeg) target: &'j mut Target<'t>,
}

impl Job for Render<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) {
        let Self { grids, estimates, transforms, picture, target } = self;
        for mcu_row in picture.mcu_rows.clone() {
            for (index, grid) in grids.iter().enumerate().take(picture.planes.len()) {
                render_row(kernel, (grid, estimates), &transforms[index], picture, index, mcu_row);
            }
            picture.finish_rows(kernel, mcu_row, target);
        }
    }
}

/// Transforms the blocks of one component in MCU row `mcu_row`. One that no scan brought is level.
#[inline(always)]
fn render_row<K: Kernel>(
    kernel: K,
    (grid, estimates): (&Grid, Option<&Estimates>),
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
            let (grid_row, grid_column) = (mcu_row * v + row, mcu_columns.start * h + column);
            let (samples, at) = (plane.samples_mut(origin), grid_row * grid.columns + grid_column);
            match estimates {
                Some(estimates) => {
                    let block = estimates.block(grid, index, (grid_column, grid_row));
                    transform.block(kernel, &block, 63, samples, stride);
                }
                None if grid.is_set_up() => {
                    transform.block(kernel, &grid.blocks[at], grid.last[at].into(), samples, stride)
                }
                None => transform.block(kernel, &[0; 64], 0, samples, stride),
            }
        }
    }
}

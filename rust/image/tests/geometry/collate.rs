//! Slots and mixtures of batches against plain definitions.
use crate::recordings::noise;
use recordmill_image::collate::half::to_half;
use recordmill_image::collate::mix::{BatchShape, cutmix, mixup, one_hot};
use recordmill_image::collate::slot::{Layout, Slot, SlotValues};
use recordmill_image::colour::normalise::Normalise;
use recordmill_image::geometry::view::View;
use recordmill_image::pixels::{Size, Window};

const SIZE: Size = Size { width: 37, height: 3 };

/// The place of a value in a slot.
fn place(layout: Layout, channels: usize, (x, y, channel): (usize, usize, usize)) -> usize {
    match layout {
        Layout::Nhwc => (y * SIZE.width + x) * channels + channel,
        Layout::Nchw => (channel * SIZE.height + y) * SIZE.width + x,
    }
}

#[test]
fn image_when_written_then_every_value_is_normalised_in_its_place() {
    let normalise = Normalise::new(&[10.0, 20.0, 30.0, 40.0], &[0.5, 0.25, 2.0, 0.013]).expect("four channels");
    for (channels, layout, flip) in (1..=4).flat_map(|c| {
        [(c, Layout::Nhwc, false), (c, Layout::Nchw, true), (c, Layout::Nhwc, true), (c, Layout::Nchw, false)]
    }) {
        let bytes = noise(SIZE, channels, channels as u64);
        let view = View::new(&bytes, SIZE, channels).expect("a picture");
        let (mut floats, mut halves) = (vec![f32::NAN; bytes.len()], vec![0; bytes.len()]);
        let mut copies = vec![0; bytes.len()];
        let slot = |values| Slot::new(values, layout, SIZE, channels).expect("a slot");
        slot(SlotValues::F32(&mut floats)).write(view, flip, &normalise).expect("a picture that fits");
        slot(SlotValues::F16(&mut halves)).write(view, flip, &normalise).expect("a picture that fits");
        slot(SlotValues::U8(&mut copies)).write(view, flip, &Normalise::IDENTITY).expect("a picture that fits");
        for (index, byte) in bytes.iter().enumerate() {
            let (x, y, channel) = (index / channels % SIZE.width, index / channels / SIZE.width, index % channels);
            let to = place(layout, channels, (if flip { SIZE.width - 1 - x } else { x }, y, channel));
            let (mean, factor) = normalise.channel(channel);
            let expected = (f32::from(*byte) - mean) * factor;
            assert_eq!((floats[to], halves[to], copies[to]), (expected, to_half(expected), *byte));
        }
    }
}

#[test]
fn normalised_bytes_when_out_of_range_then_are_held_and_rounded_to_even() {
    let bytes = [0, 1, 2, 3, 255];
    let size = Size { width: 5, height: 1 };
    let mut output = [0; 5];
    let slot = Slot::new(SlotValues::U8(&mut output), Layout::Nhwc, size, 1).expect("a slot");
    let normalise = Normalise::new(&[1.0], &[2.5]).expect("one channel");
    slot.write(View::new(&bytes, size, 1).expect("a picture"), false, &normalise).expect("a picture that fits");
    assert_eq!(output, [0, 0, 2, 5, 255]);
}

#[test]
fn slot_when_the_image_does_not_fit_then_refuses() {
    let mut floats = [0.0; 12];
    let size = Size { width: 2, height: 2 };
    assert!(Slot::new(SlotValues::F32(&mut floats[..11]), Layout::Nhwc, size, 3).is_err());
    let slot = Slot::new(SlotValues::F32(&mut floats), Layout::Nhwc, size, 3).expect("a slot");
    let bytes = [0; 4];
    assert!(slot.write(View::new(&bytes, size, 1).expect("a picture"), false, &Normalise::IDENTITY).is_err());
}

#[test]
fn normalise_when_made_from_unit_scale_then_is_near_the_two_step_form() {
    let normalise = Normalise::from_unit(&[0.485], &[0.229]).expect("one channel");
    for byte in 0..=255_u8 {
        let two_steps = (f32::from(byte) / 255.0 - 0.485) / 0.229;
        assert!((normalise.apply(0, f32::from(byte)) - two_steps).abs() < 1e-6);
    }
    assert!(Normalise::new(&[], &[1.0]).is_err() && Normalise::from_std(&[0.0], &[0.0], 1.0).is_err());
}

#[test]
fn batch_when_mixed_up_then_is_the_weighted_sum() {
    let batch = [1.0, 2.0, 3.0, 10.0, 20.0, 30.0];
    let mut output = [0.0; 6];
    mixup(&mut output, &batch, &[1, 0], &[0.75, 1.0]).expect("two items");
    assert_eq!(output, [3.25, 6.5, 9.75, 10.0, 20.0, 30.0]);
    assert!(mixup(&mut output, &batch, &[1, 2], &[0.5, 0.5]).is_err());
    assert!(mixup(&mut output, &batch, &[1, 0, 1, 0], &[0.5; 4]).is_err());
    assert!(mixup(&mut output, &batch, &[1, 0], &[0.5]).is_err());
}

#[test]
fn batch_when_cut_and_mixed_then_windows_come_from_partners() {
    let size = Size { width: 3, height: 2 };
    let windows = [Window { x: 1, y: 0, width: 2, height: 1 }, Window { x: 9, y: 9, width: 0, height: 0 }];
    for layout in [Layout::Nhwc, Layout::Nchw] {
        let batch: Vec<f32> = (0..24).map(|value| value as f32).collect();
        let mut output = vec![0.0; 24];
        let shape = BatchShape { layout, size, channels: 2 };
        let shares = cutmix(&mut output, &batch, shape, &[1, 0], &windows).expect("two items");
        assert!((shares[0] - 2.0 / 3.0).abs() < 1e-6 && shares[1] == 1.0);
        let taken: &[usize] = if layout == Layout::Nhwc { &[2, 3, 4, 5] } else { &[1, 2, 7, 8] };
        for (index, value) in output.iter().enumerate() {
            let from = if taken.contains(&index) { index + 12 } else { index };
            assert_eq!(*value, from as f32, "{layout:?} {index}");
        }
        assert!(cutmix(&mut output, &batch, shape, &[1, 0], &[Window { x: 2, ..windows[0] }; 2]).is_err());
    }
}

#[test]
fn labels_when_smoothed_then_every_row_sums_to_one() {
    let mut rows = [0.0; 8];
    one_hot(&mut rows, &[3, 0], 4, 0.1).expect("labels");
    assert_eq!(rows[3], 1.0 - 0.1 + 0.1 / 4.0);
    assert!(rows.chunks(4).all(|row| (row.iter().sum::<f32>() - 1.0).abs() < 1e-6));
    for odd in [-1, 4] {
        assert!(one_hot(&mut rows, &[odd, 0], 4, 0.0).is_err());
    }
    assert!(one_hot(&mut rows, &[0], 4, 0.0).is_err());
}

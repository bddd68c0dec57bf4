//! Replays the committed inputs of the fuzz targets in `fuzz/`.
#[path = "../../fuzz/framing.rs"]
mod framing;
#[path = "../../fuzz/inflate.rs"]
mod inflate;
#[path = "../../fuzz/payload.rs"]
mod payload;
#[path = "../../fuzz/seeds.rs"]
mod seeds;

use std::path::Path;

use recordmill_core::payload::PayloadKind;

/// Replays the inputs of one target.
fn replay(target: &str, check: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds");
    seeds::replay(&folder.join(target).with_extension("zip"), check);
}

#[test]
fn framing_accepts_its_seeds() {
    replay("framing", framing::check_input);
}

#[test]
fn inflate_accepts_its_seeds() {
    replay("inflate", inflate::check_input);
}

#[test]
fn payloads_accept_their_seeds() {
    replay("payload_example", |input| payload::assert_functions_agree(PayloadKind::Example, input));
    replay("payload_irheader", |input| payload::assert_functions_agree(PayloadKind::IrHeader, input));
    replay("payload_ofrecord", |input| payload::assert_functions_agree(PayloadKind::OfRecord, input));
    replay("payload_sequence", |input| payload::assert_functions_agree(PayloadKind::SequenceExample, input));
}

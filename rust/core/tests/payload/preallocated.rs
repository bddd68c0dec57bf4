//! `Parser::preallocate` keeps the values of the columns that it moves.
use crate::common::*;
use recordmill_core::payload::{Layout, Parser, PayloadKind, Plan, ValueKind, Values};

#[test]
fn preallocate_keeps_values_of_moved_columns() {
    let payload = |number: usize| {
        let long = vec![number as u8; 4000 + number];
        example(&[entry(b"long", &strings(&[&long])), entry(b"short", &strings(&[&long[..3]]))])
    };
    let specs = ["long", "short"].map(|name| spec(name, ValueKind::Bytes, Layout::Fixed(1)));
    let plan = Plan::new(PayloadKind::Example, specs.to_vec()).unwrap();
    for max_bytes in [usize::MAX, 100_000, 0] {
        let (mut plain, mut moved) = (Parser::new(&plan, 100), Parser::new(&plan, 100));
        let mut requests = Vec::new();
        for number in 0..100 {
            plain.push(&payload(number)).unwrap();
            moved.push(&payload(number)).unwrap();
            if number == 0 {
                moved.preallocate(100, max_bytes, |num_bytes| {
                    requests.push(num_bytes);
                    vec![7; num_bytes / 2]
                });
            }
        }
        assert_eq!(requests, if max_bytes == 0 { vec![] } else { vec![max_bytes.min(450_000)] });
        let (plain, moved) = (plain.finish(), moved.finish());
        for (a, b) in plain.iter().zip(&moved) {
            assert_eq!(a.values, b.values);
        }
        assert!(matches!(&moved[0].values, Values::Bytes { splits, .. } if splits.len() == 101));
    }
}

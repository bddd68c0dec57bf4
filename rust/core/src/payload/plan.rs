//! A compiled request: which features are wanted, and a table that finds the column of a key.
use super::key_table::{self, KeyTable};
use super::message::Dialect;
use super::{ColumnSpec, Layout, Missing, PayloadKind, Section, ValueKind, quoted};
use crate::error::{Fault, FaultKind};

/// Which features to take out of payloads of one kind; made once, used by any number of parsers.
#[derive(Debug, Clone)]
pub struct Plan {
    kind: PayloadKind,
    columns: Vec<ColumnSpec>,
    table: KeyTable,
}

impl Plan {
    /// Checks the request against what payloads of `kind` can hold.
    ///
    /// A column of kind `UInt64` fits only an image record, feature lists only a `SequenceExample`. `Missing::Empty`
    /// asks for `Layout::Ragged` or a feature list; `Missing::Default` holds as many values as `Layout::Fixed` asks.
    pub fn new(kind: PayloadKind, columns: Vec<ColumnSpec>) -> Result<Self, Fault> {
        let mut plan = Self { kind, table: KeyTable::new(columns.len()), columns: Vec::new() };
        for column in columns {
            check_column(kind, &column)?;
            if plan.find(column.section, &column.name).is_some() {
                return Err(refused(&column, "is asked for twice"));
            }
            plan.insert(column);
        }
        Ok(plan)
    }

    /// What was asked for, in the order of the parsed columns.
    pub fn columns(&self) -> &[ColumnSpec] {
        &self.columns
    }

    /// What the payloads are.
    pub fn kind(&self) -> PayloadKind {
        self.kind
    }

    /// The column of a key.
    #[inline]
    pub(super) fn find(&self, section: Section, key: &[u8]) -> Option<usize> {
        self.table.find(key_table::hash(section, key), |column| {
            let spec = &self.columns[column];
            spec.name == key && spec.section == section
        })
    }

    fn insert(&mut self, column: ColumnSpec) {
        self.table.insert(key_table::hash(column.section, &column.name), self.columns.len());
        self.columns.push(column);
    }
}

fn check_column(kind: PayloadKind, column: &ColumnSpec) -> Result<(), Fault> {
    if column.section == Section::Lists && kind != PayloadKind::SequenceExample {
        return Err(refused(column, "is asked for in feature lists, which only a SequenceExample has"));
    }
    if !holds(kind, column.kind) {
        return Err(refused(column, "is asked for as a kind that the payload cannot hold")
            .values(format!("a kind that {kind:?} holds"), column.kind.as_str()));
    }
    if Dialect::of(kind).is_some_and(|dialect| dialect.utf8_keys) && std::str::from_utf8(&column.name).is_err() {
        return Err(refused(column, "has a name that is not UTF-8"));
    }
    check_missing(column)
}

/// Whether payloads of `kind` hold values of kind `value`.
pub fn holds(kind: PayloadKind, value: ValueKind) -> bool {
    match Dialect::of(kind) {
        Some(dialect) => dialect.kinds.contains(&value),
        None => matches!(value, ValueKind::Bytes | ValueKind::Float32 | ValueKind::Int64 | ValueKind::UInt64),
    }
}

fn check_missing(column: &ColumnSpec) -> Result<(), Fault> {
    match (&column.missing, column.layout, column.section) {
        (Missing::Error, ..) | (Missing::Empty, Layout::Ragged, _) | (Missing::Empty, _, Section::Lists) => Ok(()),
        (Missing::Empty, Layout::Fixed(count), _) => {
            Err(refused(column, "has a fixed number of values and cannot be empty where it is missing")
                .values("a default", format!("{count} values")))
        }
        (Missing::Default(_), _, Section::Lists) => Err(refused(column, "is a feature list and has no default")),
        (Missing::Default(values), layout, _) => {
            if values.kind() != column.kind {
                return Err(refused(column, "has a default of another kind")
                    .values(column.kind.as_str(), values.kind().as_str()));
            }
            match layout {
                Layout::Fixed(count) if count != values.len() => {
                    Err(refused(column, "has a default of another number of values").values(count, values.len()))
                }
                _ => Ok(()),
            }
        }
    }
}

fn refused(column: &ColumnSpec, what: &str) -> Fault {
    Fault::new(FaultKind::FeatureMismatch, 0, format!("feature {} {what}", quoted(&column.name)))
}

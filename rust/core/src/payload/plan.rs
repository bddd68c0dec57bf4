//! A compiled list of requested columns, with a hash table that finds the column of a key.
use super::key_table::{self, KeyTable};
use super::message::MessageDialect;
use super::{ColumnSpec, MissingPolicy, PayloadKind, Section, ValueCount, ValueKind, quote_name};
use crate::error::{Fault, FaultKind};
use crate::memory;

/// The columns to parse from payloads of one kind. A plan is compiled once and used by any number of parsers.
#[derive(Debug, Clone)]
pub struct Plan {
    kind: PayloadKind,
    columns: Vec<ColumnSpec>,
    table: KeyTable,
}

impl Plan {
    /// Compiles the columns, and checks that payloads of `kind` can contain them.
    ///
    /// Only image records have values of kind `UInt64`; only a `SequenceExample` has feature lists.
    /// `MissingPolicy::Empty` requires `ValueCount::Ragged` or a feature list. `MissingPolicy::Default` must have the
    /// number of values of `ValueCount::Fixed` and is not supported for feature lists.
    pub fn new(kind: PayloadKind, columns: Vec<ColumnSpec>) -> Result<Self, Fault> {
        let table = KeyTable::new(columns.len())?;
        let mut plan = Self { kind, table, columns: memory::with_capacity(columns.len())? };
        for column in columns {
            check_column(kind, &column)?;
            if plan.find_column(column.section, &column.name).is_some() {
                return Err(column_fault(&column, "is requested twice"));
            }
            plan.insert_column(column);
        }
        Ok(plan)
    }

    /// Returns the column specifications, in the order of the parsed columns.
    pub fn columns(&self) -> &[ColumnSpec] {
        &self.columns
    }

    /// Returns the kind of the payloads.
    pub fn kind(&self) -> PayloadKind {
        self.kind
    }

    /// Returns the index of the column for a key.
    #[inline]
    pub(super) fn find_column(&self, section: Section, key: &[u8]) -> Option<usize> {
        self.table.find_index(key_table::hash_key(section, key), |column| {
            let spec = &self.columns[column];
            spec.name == key && spec.section == section
        })
    }

    fn insert_column(&mut self, column: ColumnSpec) {
        self.table.insert_index(key_table::hash_key(column.section, &column.name), self.columns.len());
        self.columns.push(column);
    }
}

fn check_column(kind: PayloadKind, column: &ColumnSpec) -> Result<(), Fault> {
    if column.section == Section::Lists && kind != PayloadKind::SequenceExample {
        return Err(column_fault(column, "is requested from feature lists, which only a SequenceExample has"));
    }
    if !supports_kind(kind, column.kind) {
        return Err(column_fault(column, "is requested with a kind that the payload does not support")
            .with_values(format!("a kind that {kind:?} supports"), column.kind.as_str()));
    }
    if MessageDialect::of_payload(kind).is_some_and(|dialect| dialect.utf8_keys)
        && std::str::from_utf8(&column.name).is_err()
    {
        return Err(column_fault(column, "has a name that is not UTF-8"));
    }
    check_missing_policy(column)
}

/// Returns whether payloads of `kind` can contain values of kind `value`.
pub fn supports_kind(kind: PayloadKind, value: ValueKind) -> bool {
    match MessageDialect::of_payload(kind) {
        Some(dialect) => dialect.kinds.contains(&value),
        None => matches!(value, ValueKind::Bytes | ValueKind::Float32 | ValueKind::Int64 | ValueKind::UInt64),
    }
}

fn check_missing_policy(column: &ColumnSpec) -> Result<(), Fault> {
    match (&column.missing, column.value_count, column.section) {
        (MissingPolicy::Error, ..)
        | (MissingPolicy::Empty, ValueCount::Ragged, _)
        | (MissingPolicy::Empty, _, Section::Lists) => Ok(()),
        (MissingPolicy::Empty, ValueCount::Fixed(count), _) => {
            Err(column_fault(column, "has a fixed number of values, so that it cannot be empty; set a default")
                .with_values("a default", format!("{count} values")))
        }
        (MissingPolicy::Default(_), _, Section::Lists) => {
            Err(column_fault(column, "is a feature list, which cannot have a default"))
        }
        (MissingPolicy::Default(values), value_count, _) => {
            if values.kind() != column.kind {
                return Err(column_fault(column, "has a default of the wrong kind")
                    .with_values(column.kind.as_str(), values.kind().as_str()));
            }
            match value_count {
                ValueCount::Fixed(count) if count != values.len() => {
                    Err(column_fault(column, "has a default with the wrong number of values")
                        .with_values(count, values.len()))
                }
                _ => Ok(()),
            }
        }
    }
}

fn column_fault(column: &ColumnSpec, what: &str) -> Fault {
    Fault::new(FaultKind::FeatureMismatch, 0, format!("feature {} {what}", quote_name(&column.name)))
}

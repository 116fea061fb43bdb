//! Tables without lines, as wide as the terminal at most.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};
use console::Term;
use std::io::{self, Write};

/// A column's title and side.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Column<'t> {
    Left(&'t str),
    /// For numbers.
    Right(&'t str),
}

/// Rows below titles.
pub(crate) struct Sheet {
    table: Table,
    sides: Vec<CellAlignment>,
}

impl Sheet {
    pub(crate) fn new(columns: &[Column<'_>]) -> Self {
        let sides: Vec<CellAlignment> = columns
            .iter()
            .map(|column| match column {
                Column::Left(_) => CellAlignment::Left,
                Column::Right(_) => CellAlignment::Right,
            })
            .collect();
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        if let Some((_, width)) = Term::stdout().size_checked() {
            table.set_width(width.saturating_sub(1)).set_content_arrangement(ContentArrangement::Dynamic);
        }
        let titles = columns.iter().map(|(Column::Left(title) | Column::Right(title))| (*title).to_owned());
        table.set_header(cells(titles, &sides));
        Self { table, sides }
    }

    pub(crate) fn row(&mut self, values: impl IntoIterator<Item = String>) {
        self.table.add_row(cells(values, &self.sides));
    }

    /// Each line a little to the right, without spaces at its end.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for line in self.table.lines() {
            writeln!(out, " {}", line.trim_end())?;
        }
        Ok(())
    }
}

fn cells(values: impl IntoIterator<Item = String>, sides: &[CellAlignment]) -> Vec<Cell> {
    values.into_iter().zip(sides).map(|(value, side)| Cell::new(value).set_alignment(*side)).collect()
}

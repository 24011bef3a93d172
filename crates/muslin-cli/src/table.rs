//! Text tables for a terminal.

use std::fmt;

/// Rows of cells under a heading; the last column is not padded.
#[derive(Debug)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
    /// Columns of numbers, which line up on the right.
    numbers: &'static [usize],
}

impl Table {
    pub(crate) fn new<const N: usize>(heading: [&str; N], numbers: &'static [usize]) -> Self {
        Self { rows: vec![heading.map(str::to_owned).to_vec()], numbers }
    }

    /// Of words, with as many columns as it happens to have.
    pub(crate) fn with_heading(heading: Vec<String>) -> Self {
        Self { rows: vec![heading], numbers: &[] }
    }

    pub(crate) fn cells(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.to_vec());
    }

    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| self.rows.iter().filter_map(|row| row.get(column)).map(|cell| letters(cell)).max();
        (0..columns).map(|column| width(column).unwrap_or(0)).collect()
    }
}

fn letters(cell: &str) -> usize {
    cell.chars().count()
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        for (i, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let gap = " ".repeat(width - letters(cell));
                let (before, after) =
                    if self.numbers.contains(&column) { (gap.as_str(), "") } else { ("", gap.as_str()) };
                line.push_str(&format!("  {before}{cell}{after}"));
            }
            write!(f, "{}{}", if i == 0 { "" } else { "\n" }, line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(["name", "value", "note"], &[1]);
        table.row(["κ".into(), "1".into(), "long enough".into()]);
        table.row(["sheet".into(), "1000".into(), String::new()]);
        assert_eq!(table.to_string(), "  name   value  note\n  κ          1  long enough\n  sheet   1000");
    }
}

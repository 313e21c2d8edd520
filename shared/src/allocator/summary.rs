//! The text of `memory_summary()` (§14.3), character for character.

use crate::ids::DeviceIndex;

use super::stats::{Counter, Family, Statistics};

/// Unit of a column, chosen by its first row and shared by the rows under it.
struct Unit {
    name: &'static str,
    /// Divisions that lead to it.
    steps: u32,
    divisor: i64,
}

const BYTES: [&str; 6] = ["B  ", "KiB", "MiB", "GiB", "TiB", "PiB"];
const COUNTS: [&str; 3] = [" ", "K", "M"];

/// What a row counts.
#[derive(Clone, Copy)]
enum Quantity {
    Bytes,
    Count,
}

impl Quantity {
    fn unit(self, value: i64) -> Unit {
        let (names, threshold, divisor): (&[&'static str], f64, i64) = match self {
            Quantity::Bytes => (&BYTES, 768.0 * 1024.0, 1024),
            Quantity::Count => (&COUNTS, 750.0 * 1000.0, 1000),
        };
        let mut preferred = value as f64;
        let mut steps = 0;
        while preferred >= threshold && steps + 1 < names.len() {
            preferred /= divisor as f64;
            steps += 1;
        }
        Unit {
            name: names[steps],
            steps: steps as u32,
            divisor,
        }
    }

    fn cell(self, value: i64, unit: &Unit) -> String {
        let shown = value.div_euclid(unit.divisor.pow(unit.steps));
        match self {
            Quantity::Bytes => format!("{shown:6} {}", unit.name),
            Quantity::Count => format!("{shown:7} {} ", unit.name),
        }
    }
}

impl Statistics {
    /// `torch.cuda.memory_summary(device, abbreviated)`.
    #[must_use]
    pub fn summary(&self, device: DeviceIndex, detail: Detail) -> String {
        let mut table = Table::default();
        table.rule('=');
        table.line(&format!(
            " {:16} PyTorch CUDA memory summary, device ID {:<17} ",
            "", device.0
        ));
        table.rule('-');
        table.line(&format!(
            "  {:9} CUDA OOMs: {:<12} | {:6} cudaMalloc retries: {:<8}  ",
            "", self.num_ooms, "", self.num_alloc_retries
        ));
        table.rule('=');
        table.line("        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  ");
        for (title, quantity, family) in self.rows() {
            table.family(title, quantity, family, detail);
        }
        for (title, counter) in [
            ("Oversize allocations", &self.oversize_allocations),
            ("Oversize GPU segments", &self.oversize_segments),
        ] {
            let units = units(Quantity::Count, counter);
            table.rule('-');
            table.row(title, Quantity::Count, counter, &units);
        }
        table.rule('=');
        table.0
    }

    fn rows(&self) -> [(&'static str, Quantity, &Family); 9] {
        use Quantity::{Bytes, Count};
        [
            ("Allocated memory", Bytes, &self.allocated_bytes),
            ("Active memory", Bytes, &self.active_bytes),
            ("Requested memory", Bytes, &self.requested_bytes),
            ("GPU reserved memory", Bytes, &self.reserved_bytes),
            ("Non-releasable memory", Bytes, &self.inactive_split_bytes),
            ("Allocations", Count, &self.allocation),
            ("Active allocs", Count, &self.active),
            ("GPU reserved segments", Count, &self.segment),
            ("Non-releasable allocs", Count, &self.inactive_split),
        ]
    }
}

/// Whether rows for the small and the large pool follow each metric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// With the rows of both pools.
    #[default]
    Pools,
    /// `abbreviated=True`.
    Abbreviated,
}

#[derive(Default)]
struct Table(String);

impl Table {
    fn line(&mut self, text: &str) {
        self.0.push('|');
        self.0.push_str(text);
        self.0.push_str("|\n");
    }

    fn rule(&mut self, c: char) {
        self.line(&c.to_string().repeat(75));
    }

    fn family(&mut self, title: &str, quantity: Quantity, family: &Family, detail: Detail) {
        let units = units(quantity, &family.all);
        self.rule('-');
        self.row(title, quantity, &family.all, &units);
        if detail == Detail::Pools {
            self.row(
                "      from large pool",
                quantity,
                &family.large_pool,
                &units,
            );
            self.row(
                "      from small pool",
                quantity,
                &family.small_pool,
                &units,
            );
        }
    }

    fn row(&mut self, title: &str, quantity: Quantity, counter: &Counter, units: &[Unit; 4]) {
        let [current, peak, allocated, freed] = cells(counter);
        self.line(&format!(
            " {title:<21} | {} | {} | {} | {} ",
            quantity.cell(current, &units[0]),
            quantity.cell(peak, &units[1]),
            quantity.cell(allocated, &units[2]),
            quantity.cell(freed, &units[3]),
        ));
    }
}

fn cells(counter: &Counter) -> [i64; 4] {
    [
        counter.current,
        counter.peak,
        counter.allocated,
        counter.freed,
    ]
}

fn units(quantity: Quantity, counter: &Counter) -> [Unit; 4] {
    cells(counter).map(|value| quantity.unit(value))
}

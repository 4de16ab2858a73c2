//! Units of inventories.

use crate::sources::species::{is_carbon_dioxide, is_molar_mass_of};
use crate::sources::units::CARBON_DIOXIDE_PER_CARBON;

/// Avogadro constant (1/mol), exact by the definition of the mole (SI 2019).
const AVOGADRO_PER_MOL: f64 = 6.022_140_76e23;

/// What a stored number stands for: so many kg of the species, by area or by cell, in a period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FluxUnits {
    kg: f64,
    spread: Spread,
    period: Period,
}

/// What a flux is divided by, in space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Area in m².
    Area,
    /// A cell of the file's grid.
    Cell,
}

/// What a flux is divided by, in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    /// Seconds.
    Second,
    /// Days of 86 400 s.
    Day,
    /// Calendar months, of their real length.
    Month,
    /// Years.
    Year,
}

/// Forms that are understood, for messages.
const KNOWN: &str = "kg, kgC or kg of the species (also t, kt, Gg, Tg), mol, molecules or atoms; by m2, cm2 or cell; and by \
                     second, day, month or year";

impl FluxUnits {
    /// Reads units such as `kgC m-2 s-1`, `kgCO2 month-1 m-2`, `mol/m2/s`, `atoms cm-2 s-1` or
    /// `kilotonnes C per cell and year`, for a species of `molar_mass` kg mol⁻¹: an amount, by area or cell, and by time.
    ///
    /// # Errors
    /// What is wrong with them or lacks, to follow the name of the variable; all that is known is listed.
    pub fn parse(units: &str, molar_mass: f64) -> Result<Self, String> {
        let unknown = || format!("has units '{units}', which are not known; known are {KNOWN}");
        let mut parts = Parts::default();
        let mut below = false;
        for token in plain(units).split_whitespace() {
            if token == "/" {
                below = true;
                continue;
            }
            parts.take(token, std::mem::take(&mut below)).ok_or_else(unknown)?;
        }
        let amount = parts.amount.ok_or_else(unknown)?;
        let lacking = match (parts.spread, parts.period) {
            (None, None) => "an amount, neither by area or cell nor by time",
            (None, Some(_)) => "not by area or cell",
            (Some(_), None) => "not by time",
            (Some(_), Some(_)) => "",
        };
        let (Some(spread), Some(period)) = (parts.spread, parts.period) else {
            return Err(format!(
                "has units '{units}', which are {lacking}; a flux is both, such as 't cell-1 yr-1'; known are {KNOWN}"
            ));
        };
        let kg = amount.kg(parts.species, molar_mass).map_err(|problem| format!("has units '{units}', {problem}"))?;
        Ok(Self { kg: kg * spread.1, spread: spread.0, period })
    }

    /// kg of the species per stored unit (by m² or cell, and by period).
    pub fn kg(&self) -> f64 {
        self.kg
    }

    /// What they are by in space.
    pub fn spread(&self) -> Spread {
        self.spread
    }

    /// What they are by in time.
    pub fn period(&self) -> Period {
        self.period
    }
}

/// Units in lower case, words and signs apart, `per` and `and` as `/`, remarks in brackets removed.
fn plain(units: &str) -> String {
    let mut text = String::new();
    let mut rest = units;
    while let Some(open) = rest.find(['(', '[']) {
        let close = rest[open..].find([')', ']']).map_or(rest.len(), |n| open + n);
        let inside = &rest[open + 1..close];
        text.push_str(&rest[..open]);
        if !inside.trim().contains(' ') {
            text.push_str(inside);
        }
        rest = rest.get(close + 1..).unwrap_or("");
    }
    text.push_str(rest);
    let mut text = text.to_lowercase();
    for (from, to) in [
        ("²", "2"),
        ("⁻", "-"),
        ("¹", "1"),
        ("**", ""),
        ("^", ""),
        ("{", ""),
        ("}", ""),
        ("_", " "),
        (".", " "),
        ("*", " "),
        ("·", " "),
        ("/", " / "),
    ] {
        text = text.replace(from, to);
    }
    let words = text.split_whitespace().filter(|word| !["of", "grid", "metric"].contains(word));
    let words: Vec<&str> = words.map(|word| if ["per", "and"].contains(&word) { "/" } else { word }).collect();
    let mut text = format!(" {} ", words.join(" "));
    for large in ["1e9 g", "109 g", "thousand tonnes", "1000 tonnes", "1000 t"] {
        text = text.replace(&format!(" {large} "), " kt ");
    }
    text
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Kilograms,
    Tonnes,
    Moles,
    Molecules,
}

/// A unit of the amount, and how many of it.
#[derive(Clone, Copy)]
struct Amount {
    unit: Unit,
    count: f64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Species {
    Own,
    Carbon,
    Named(&'static str),
}

impl Amount {
    /// Unit at the start of a word, and what follows it.
    fn leading(word: &str) -> Option<(Self, &str)> {
        // Longer names first.
        const UNITS: [(&str, Unit, f64); 17] = [
            ("kilotonnes", Unit::Tonnes, 1e6),
            ("kilotonne", Unit::Tonnes, 1e6),
            ("kilograms", Unit::Kilograms, 1.0),
            ("kilogram", Unit::Kilograms, 1.0),
            ("molecules", Unit::Molecules, 1.0),
            ("molecule", Unit::Molecules, 1.0),
            ("tonnes", Unit::Tonnes, 1e3),
            ("molec", Unit::Molecules, 1.0),
            ("moles", Unit::Moles, 1.0),
            ("tonne", Unit::Tonnes, 1e3),
            ("atoms", Unit::Molecules, 1.0),
            ("atom", Unit::Molecules, 1.0),
            ("mole", Unit::Moles, 1.0),
            ("mol", Unit::Moles, 1.0),
            ("kg", Unit::Kilograms, 1.0),
            ("kt", Unit::Tonnes, 1e6),
            ("gg", Unit::Tonnes, 1e6),
        ];
        let short = [("tg", Unit::Tonnes, 1e9), ("t", Unit::Tonnes, 1e3)];
        UNITS
            .into_iter()
            .chain(short)
            .find_map(|(name, unit, count)| Some((Self { unit, count }, word.strip_prefix(name)?)))
    }

    /// kg of the species; the error text says what does not fit.
    fn kg(self, species: Option<Species>, molar_mass: f64) -> Result<f64, String> {
        if let Some(Species::Named(name)) = species
            && !is_molar_mass_of(name, molar_mass)
        {
            return Err(format!("but the molar mass is {molar_mass} kg/mol, not that of {name}"));
        }
        match (self.unit, species) {
            (Unit::Kilograms | Unit::Tonnes, Some(Species::Carbon)) if is_carbon_dioxide(molar_mass) => {
                Ok(self.count * CARBON_DIOXIDE_PER_CARBON)
            }
            (Unit::Kilograms | Unit::Tonnes, Some(Species::Carbon)) => Err("which only carbon dioxide can have".into()),
            (Unit::Kilograms | Unit::Tonnes, _) => Ok(self.count),
            // A mole of carbon is a mole of what carries it.
            (Unit::Moles, _) => Ok(self.count * molar_mass),
            (Unit::Molecules, _) => Ok(self.count * (molar_mass / AVOGADRO_PER_MOL)),
        }
    }
}

impl Species {
    fn of(word: &str) -> Option<Self> {
        match word {
            "species" | "" => Some(Self::Own),
            "c" | "carbon" => Some(Self::Carbon),
            "co2" => Some(Self::Named("co2")),
            "sf6" => Some(Self::Named("sf6")),
            "rn" | "rn222" | "222rn" | "radon" => Some(Self::Named("rn222")),
            _ => None,
        }
    }
}

/// Parts of units found so far; each may occur once.
#[derive(Default)]
struct Parts {
    amount: Option<Amount>,
    species: Option<Species>,
    spread: Option<(Spread, f64)>,
    period: Option<Period>,
}

impl Parts {
    /// Takes a word, `below` a stroke or not; `None` if it is unknown, at the wrong place or twice there.
    fn take(&mut self, word: &str, below: bool) -> Option<()> {
        // Words that several archives write without a space.
        if let Some((area, time)) = match word {
            "m2s" if below => Some(("m2", "s")),
            "m-2s-1" if !below => Some(("m-2", "s-1")),
            _ => None,
        } {
            self.take(area, below)?;
            return self.take(time, below);
        }
        let bare = if below { Some(word) } else { word.strip_suffix("-1") };
        let period = match bare {
            Some("s" | "sec" | "second" | "seconds") => Some(Period::Second),
            Some("d" | "day" | "days") => Some(Period::Day),
            Some("month" | "mon" | "months") => Some(Period::Month),
            Some("yr" | "year" | "years" | "y" | "a") => Some(Period::Year),
            _ => None,
        };
        if period.is_some() {
            return self.period.is_none().then(|| self.period = period);
        }
        let spread = match (word, bare, below) {
            (_, Some("cell" | "gridcell" | "pixel"), _) => Some((Spread::Cell, 1.0)),
            ("m2", _, true) | ("m-2", _, false) => Some((Spread::Area, 1.0)),
            ("cm2", _, true) | ("cm-2", _, false) => Some((Spread::Area, 1e4)),
            _ => None,
        };
        if spread.is_some() {
            return self.spread.is_none().then(|| self.spread = spread);
        }
        if below {
            return None;
        }
        if let (Some(_), None, Some(species)) = (self.amount, self.species, Species::of(word)) {
            self.species = Some(species);
            return Some(());
        }
        let (amount, rest) = Amount::leading(word)?;
        let species = Species::of(rest)?;
        if self.amount.is_some() {
            return None;
        }
        self.amount = Some(amount);
        self.species = (!rest.is_empty()).then_some(species);
        Some(())
    }
}

#[cfg(test)]
#[path = "units_tests.rs"]
mod tests;

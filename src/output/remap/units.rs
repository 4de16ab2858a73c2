//! Whether units are those of amounts, which add up, or of means.

/// What units say about how values of cells go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// They are amounts in a cell.
    Amount,
    /// They are anything else.
    Mean,
    /// An amount of something, with a word that is not known.
    Unclear,
}

/// Reads units such as `kg`, `Gg C yr-1`, `t/month`, `kg m-2 s-1` or `mol mol-1`.
pub(super) fn told_by(units: &str) -> Told {
    let lower = units.trim().to_lowercase();
    let by_cell = ["cell-1", "per cell", "per grid cell", "per gridcell", "/cell", "/gridcell"];
    // Areas add up as amounts do.
    let area = ["m2", "m^2", "m**2", "km2"].contains(&lower.as_str());
    if area || by_cell.iter().any(|part| lower.contains(part)) {
        return Told::Amount;
    }
    let mut text = units.to_owned();
    for (from, to) in [("²", "2"), ("³", "3"), ("⁻", "-"), ("¹", "1"), ("**", ""), ("^", ""), ("/", " / ")] {
        text = text.replace(from, to);
    }
    let text = text.replace(['(', ')', '[', ']', '{', '}', '*', '·', '.', '_'], " ");
    let (mut amount, mut unclear, mut below) = (false, false, false);
    for word in text.split_whitespace() {
        if ["/", "per"].contains(&word) {
            below = true;
            continue;
        }
        let (stem, inverse) = match word.strip_suffix("-1") {
            Some(stem) => (stem, true),
            None => (word, false),
        };
        if is_number(word) || is_time(stem) && (below || inverse) {
            // Rates add up as amounts do.
        } else if below || word.contains('-') {
            return Told::Mean;
        } else if !amount && is_amount(word) {
            amount = true;
        } else if amount {
            unclear |= !is_species(word);
        } else {
            return Told::Mean;
        }
    }
    match (amount, unclear) {
        (true, false) => Told::Amount,
        (true, true) => Told::Unclear,
        (false, _) => Told::Mean,
    }
}

fn is_number(word: &str) -> bool {
    word.parse::<f64>().is_ok()
}

fn is_time(word: &str) -> bool {
    const TIMES: [&str; 20] = [
        "s", "sec", "second", "seconds", "min", "minute", "minutes", "h", "hr", "hour", "hours", "d", "day", "days",
        "mon", "month", "months", "yr", "year", "a",
    ];
    TIMES.contains(&word.to_lowercase().as_str())
}

/// Whether a word is a unit of mass, of matter or of activity, perhaps with a species after it.
fn is_amount(word: &str) -> bool {
    const NAMES: [&str; 21] = [
        "kilotonnes",
        "kilotonne",
        "megatonnes",
        "megatonne",
        "gigatonnes",
        "gigatonne",
        "kilograms",
        "kilogram",
        "tonnes",
        "tonne",
        "tons",
        "ton",
        "grams",
        "gram",
        "molecules",
        "molecule",
        "molec",
        "moles",
        "mole",
        "atoms",
        "atom",
    ];
    const SYMBOLS: [&str; 4] = ["mol", "Bq", "g", "t"];
    const PREFIXES: [&str; 14] = ["", "k", "K", "M", "G", "T", "P", "E", "h", "m", "u", "µ", "μ", "n"];
    let lower = word.to_lowercase();
    if NAMES.contains(&lower.as_str())
        || ["kg", "mol", "kmol", "gg", "tg", "pg", "kt", "mt", "gt"].contains(&lower.as_str())
    {
        return true;
    }
    PREFIXES.iter().filter_map(|prefix| word.strip_prefix(prefix)).any(|rest| {
        SYMBOLS.iter().filter_map(|unit| rest.strip_prefix(unit)).any(|rest| rest.is_empty() || is_species(rest))
    })
}

/// Whether a word may be the name of a substance: a chemical formula, or one of some words.
fn is_species(word: &str) -> bool {
    let formula = word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.len() <= 8
        && word.chars().all(|c| c.is_ascii_alphanumeric());
    formula || ["species", "carbon", "dry", "air", "of", "co2", "ch4"].contains(&word.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_and_means_are_told_apart() {
        for units in [
            "kg",
            "g",
            "t",
            "Mg",
            "Gg",
            "Tg",
            "Pg",
            "mol",
            "kmol",
            "molec",
            "molecules",
            "kgC",
            "kgCO2",
            "tonnes",
            "kg C",
            "Gg C yr-1",
            "tC",
            "kt",
            "ton yr-1",
            "tons/year",
            "kgC/month",
            "Tg C a-1",
            "PgC yr^-1",
            "kg s-1",
            "kg/s",
            "kg s⁻¹",
            "kg of CH4 per day",
            "TgN",
            "Gt",
            "GtCO2 yr**-1",
            "mol s-1",
            "atoms d-1",
            "Kg",
            "KG",
            "kg(CO2)",
            "1e9 g",
            "kilotonnes C per year",
            "Bq",
            "TBq day-1",
            "kg dry air",
            "Tonnes SF6",
            "kg_species s-1",
            "m2",
            "km2",
            "molec cell-1 s-1",
            "kg per grid cell",
        ] {
            assert_eq!(told_by(units), Told::Amount, "{units}");
        }
        for units in [
            "",
            "1",
            "K",
            "Pa",
            "m",
            "m s-1",
            "kg m-2",
            "kg m-2 s-1",
            "kg/m2/s",
            "kgC m-2 s-1",
            "kg/(m2 s)",
            "g/kg",
            "kg kg-1",
            "mol mol-1",
            "mol mol-1 dry",
            "ppm",
            "mol/m2/s",
            "molec cm-2",
            "atoms cm-2 s-1",
            "kg m-3",
            "t km-2 yr-1",
            "gC m**-2 day**-1",
            "gpm",
            "mmHg",
            "hPa",
            "degrees",
            "W m-2",
            "J kg-1",
            "1e-6",
            "t ha-1",
            "m3 s-1",
            "%",
            "g m^-2",
            "µmol m-2 s-1",
            "hours since 2021-12-01",
        ] {
            assert_eq!(told_by(units), Told::Mean, "{units}");
        }
        for units in ["kg widgets", "t of coal", "kg m s", "mol stuff yr-1"] {
            assert_eq!(told_by(units), Told::Unclear, "{units}");
        }
    }
}

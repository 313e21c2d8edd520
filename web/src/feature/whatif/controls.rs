//! The settings as controls, and the variant that they stand for.

use shared::units::GIB;
use shared::whatif::{EmptyCaches, Variant};
use web_sys::{HtmlInputElement, HtmlSelectElement};
use yew::prelude::*;

use crate::text;

/// Split limits to choose from, in MiB; 0 for none.
const SPLITS_MB: [u64; 6] = [0, 32, 64, 128, 256, 512];
/// Divisions of the power-of-two rounding; 0 for none.
const DIVISIONS: [u64; 5] = [0, 2, 4, 8, 16];
/// Garbage collection thresholds; none first.
const THRESHOLDS: [&str; 4] = ["0", "0.6", "0.8", "0.9"];

/// What is chosen.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Choices {
    pub(super) expandable: bool,
    pub(super) split_mb: u64,
    pub(super) divisions: u64,
    /// Position in the thresholds.
    pub(super) threshold: usize,
    pub(super) drops_empty_cache: bool,
    pub(super) capacity_bytes: Option<u64>,
}

impl Choices {
    /// The settings as text of `PYTORCH_CUDA_ALLOC_CONF`.
    pub(super) fn conf(&self) -> String {
        let mut options = Vec::new();
        if self.expandable {
            options.push("expandable_segments:True".to_owned());
        }
        if self.split_mb > 0 {
            options.push(format!("max_split_size_mb:{}", self.split_mb));
        }
        if self.divisions > 0 {
            options.push(format!("roundup_power2_divisions:{}", self.divisions));
        }
        if self.threshold > 0 {
            let threshold = THRESHOLDS.get(self.threshold).unwrap_or(&"0.8");
            options.push(format!("garbage_collection_threshold:{threshold}"));
        }
        options.join(",")
    }

    pub(super) fn variant(&self) -> Variant {
        Variant {
            conf: Some(self.conf()),
            ..self.circumstances()
        }
    }

    /// All but the settings.
    pub(super) fn circumstances(&self) -> Variant {
        Variant {
            conf: None,
            capacity_bytes: self.capacity_bytes,
            others_bytes: None,
            empty_caches: if self.drops_empty_cache {
                EmptyCaches::Dropped
            } else {
                EmptyCaches::Kept
            },
            inserted: Vec::new(),
        }
    }
}

#[derive(Properties, PartialEq)]
pub(super) struct ControlsProps {
    pub(super) choices: Choices,
    pub(super) on_change: Callback<Choices>,
    pub(super) on_search: Callback<()>,
}

#[component]
pub(super) fn Controls(props: &ControlsProps) -> Html {
    let ControlsProps {
        choices,
        on_change,
        on_search,
    } = props;
    let conf = choices.conf();
    let toggle = |change: fn(&mut Choices, bool)| {
        let (choices, on_change) = (choices.clone(), on_change.clone());
        Callback::from(move |event: Event| {
            let input: HtmlInputElement = event.target_unchecked_into();
            let mut changed = choices.clone();
            change(&mut changed, input.checked());
            on_change.emit(changed);
        })
    };
    let select = |change: fn(&mut Choices, usize)| {
        let (choices, on_change) = (choices.clone(), on_change.clone());
        Callback::from(move |event: Event| {
            let select: HtmlSelectElement = event.target_unchecked_into();
            let mut changed = choices.clone();
            change(
                &mut changed,
                usize::try_from(select.selected_index()).unwrap_or(0),
            );
            on_change.emit(changed);
        })
    };
    let on_capacity = {
        let (choices, on_change) = (choices.clone(), on_change.clone());
        Callback::from(move |event: Event| {
            let input: HtmlInputElement = event.target_unchecked_into();
            let gib = input.value().parse::<f64>().ok().filter(|gib| *gib > 0.0);
            on_change.emit(Choices {
                capacity_bytes: gib.map(|gib| (gib * GIB as f64) as u64),
                ..choices.clone()
            });
        })
    };
    let onsearch = on_search.reform(|_: MouseEvent| ());
    html! {
        <form class="choices" onsubmit={Callback::from(|event: SubmitEvent| event.prevent_default())}>
            <label>
                <input type="checkbox" id="what-if-expandable" checked={choices.expandable}
                    onchange={toggle(|choices, is_on| choices.expandable = is_on)} />
                <code>{ "expandable_segments" }</code>
            </label>
            <label>
                <code>{ "max_split_size_mb" }</code>
                <select class="pill small" id="what-if-split" onchange={select(|choices, at| {
                    choices.split_mb = SPLITS_MB.get(at).copied().unwrap_or(0);
                })}>
                    { options(SPLITS_MB.iter(), &choices.split_mb) }
                </select>
            </label>
            <label>
                <code>{ "roundup_power2_divisions" }</code>
                <select class="pill small" id="what-if-divisions" onchange={select(|choices, at| {
                    choices.divisions = DIVISIONS.get(at).copied().unwrap_or(0);
                })}>
                    { options(DIVISIONS.iter(), &choices.divisions) }
                </select>
            </label>
            <label>
                <code>{ "garbage_collection_threshold" }</code>
                <select class="pill small" id="what-if-threshold"
                    onchange={select(|choices, at| choices.threshold = at)}>
                    { options(THRESHOLDS.iter(), THRESHOLDS.get(choices.threshold).unwrap_or(&"0")) }
                </select>
            </label>
            <label>
                { text::whatif_capacity() }
                <input type="number" id="what-if-capacity" min="1" step="1" onchange={on_capacity} />
                { " GiB" }
            </label>
            <label>
                <input type="checkbox" id="what-if-drop" checked={choices.drops_empty_cache}
                    onchange={toggle(|choices, is_on| choices.drops_empty_cache = is_on)} />
                { text::whatif_drop() }
            </label>
            <button type="button" class="primary" id="what-if-search" onclick={onsearch}>
                { text::whatif_search() }
            </button>
            <output class="second">
                <code>{ format!("PYTORCH_CUDA_ALLOC_CONF={conf}") }</code>
            </output>
        </form>
    }
}

fn options<'a, T: ToString + PartialEq + 'a>(
    values: impl Iterator<Item = &'a T>,
    chosen: &T,
) -> Html {
    html! {
        { for values.enumerate().map(|(place, value)| html! {
            <option selected={value == chosen}>
                { if place == 0 { "–".to_owned() } else { value.to_string() } }
            </option>
        }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::settings::Settings;

    #[test]
    fn every_choice_is_a_settings_text_that_pytorch_accepts() {
        assert_eq!(Choices::default().conf(), "");
        for split_mb in SPLITS_MB {
            for divisions in DIVISIONS {
                for threshold in 0..THRESHOLDS.len() {
                    let choices = Choices {
                        expandable: divisions > 0,
                        split_mb,
                        divisions,
                        threshold,
                        ..Choices::default()
                    };
                    let conf = choices.conf();
                    assert!(Settings::parse(&conf).is_ok(), "{conf}");
                }
            }
        }
    }
}

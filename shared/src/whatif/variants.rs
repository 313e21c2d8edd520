//! What may be different in a run.

use serde::{Deserialize, Serialize};

use crate::ids::EventIndex;
use crate::settings::{Settings, SettingsError};
use crate::store::Recording;
use crate::whatif::bounds::{Card, Knowledge};

/// The same program under other circumstances. What is `None` stays as recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Variant {
    /// `PYTORCH_CUDA_ALLOC_CONF`.
    pub conf: Option<String>,
    /// Size of the card in bytes. A recorded memory limit does not hold on another card.
    pub capacity_bytes: Option<u64>,
    /// Bytes of it that others use.
    pub others_bytes: Option<u64>,
    /// What happens to the recorded calls of `empty_cache()`.
    pub empty_caches: EmptyCaches,
    /// `empty_cache()` is called before these events as well.
    pub inserted: Vec<EventIndex>,
}

/// The recorded calls of `empty_cache()` that returned something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum EmptyCaches {
    /// All happen.
    #[default]
    Kept,
    /// None happens.
    Dropped,
    /// These do not, named by their first event.
    Without(Vec<EventIndex>),
}

impl Variant {
    /// Other settings, all else as recorded.
    #[must_use]
    pub fn with_conf(conf: &str) -> Self {
        Self {
            conf: Some(conf.to_owned()),
            ..Self::default()
        }
    }

    /// The settings it runs under.
    ///
    /// # Errors
    /// When PyTorch would refuse their text.
    pub fn settings(&self, recording: &Recording) -> Result<Settings, SettingsError> {
        match &self.conf {
            Some(text) => Settings::parse(text),
            None => Ok(recording.settings()),
        }
    }

    /// The card it runs on, where the recording's is `recorded`.
    #[must_use]
    pub fn card(&self, recorded: Card) -> Card {
        let mut card = recorded;
        if let Some(bytes) = self.capacity_bytes {
            card = Card {
                capacity_bytes: bytes,
                others_bytes: 0,
                limit_bytes: None,
                capacity_from: Knowledge::Chosen,
                limit_from: Knowledge::Nothing,
            };
        }
        if let Some(bytes) = self.others_bytes {
            card.others_bytes = bytes;
        }
        card
    }

    /// Whether the recorded `empty_cache()` at `first` happens.
    pub(super) fn keeps(&self, first: EventIndex) -> bool {
        match &self.empty_caches {
            EmptyCaches::Kept => true,
            EmptyCaches::Dropped => false,
            EmptyCaches::Without(these) => !these.contains(&first),
        }
    }
}

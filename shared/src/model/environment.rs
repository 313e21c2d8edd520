use serde::{Deserialize, Serialize};

/// Who wrote the recording, and in which form it came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    /// Not known.
    #[default]
    Unknown,
    /// A snapshot by PyTorch's Python side.
    PytorchSnapshot,
    /// A bare list of segments (`torch.cuda.memory_snapshot()`), without events.
    PytorchSegments,
    /// The allocator of this project.
    Vramscope,
}

/// What is known about the memory of one card, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardMemory {
    /// Size of the card.
    pub total_bytes: Option<u64>,
    /// What the allocator was allowed (`set_per_process_memory_fraction`).
    pub limit_bytes: Option<u64>,
    /// What was free before this program reserved anything.
    pub base_free_bytes: Option<u64>,
}

/// What a recording was made with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Who wrote it.
    pub source: Source,
    /// Version of PyTorch, where known (`2.11.0+cu130`).
    pub torch_version: Option<String>,
    /// `PYTORCH_CUDA_ALLOC_CONF` as recorded; `None` where the recording does not say.
    pub settings_text: Option<String>,
    /// The settings that the recording lists (§13.4), name and value as text, in its order.
    pub settings: Vec<(String, String)>,
    /// Memory of the cards; the same for all devices.
    pub card: CardMemory,
}

//! What a thread needs for images: decoders with their tables, an encoder, and memory that is used again.
use std::sync::Mutex;

use crate::{jpeg, png};

/// One thread's decoders and memory.
#[derive(Default)]
pub struct Engine {
    /// For JPEG.
    pub jpeg: jpeg::Decoder,
    /// For PNG.
    pub png: png::Decoder,
    /// For PNG that is made.
    pub png_encoder: png::Encoder,
    /// Pixels of the image at hand.
    pub pixels: Vec<u8>,
    /// Pixels of 16 bits.
    pub deep: Vec<u16>,
}

/// Scratch above this is not kept.
const MAX_KEPT: usize = 64 << 20;
const MAX_IDLE: usize = 64;

static IDLE: Mutex<Vec<Engine>> = Mutex::new(Vec::new());

impl Engine {
    /// An engine that was used before, or a new one. `try_lock`: a fork may have left the lock held for ever.
    pub fn take() -> Self {
        IDLE.try_lock().ok().and_then(|mut idle| idle.pop()).unwrap_or_default()
    }

    /// Keeps the engine for [`Engine::take`].
    pub fn give(self) {
        if self.pixels.capacity() + 2 * self.deep.capacity() > MAX_KEPT {
            return;
        }
        if let Ok(mut idle) = IDLE.try_lock()
            && idle.len() < MAX_IDLE
        {
            idle.push(self);
        }
    }
}

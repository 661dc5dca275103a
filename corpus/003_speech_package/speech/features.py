from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from . import settings as defaults


def synthesise(labels: np.ndarray, rng, seconds: float = 0.25) -> np.ndarray:
    t = np.arange(int(seconds * defaults.rate)) / defaults.rate
    tones = np.stack([np.sin(2 * np.pi * 100 * (k + 1) * t) for k in labels])
    return (tones + 0.1 * rng.normal(size=tones.shape)).astype(np.float32)


def spectrogram(wave, cfg=defaults):
    starts = np.arange(0, wave.shape[-1] - cfg.frame + 1, cfg.hop)
    frames = wave[..., starts[:, None] + np.arange(cfg.frame)]
    window = jnp.hanning(cfg.frame)
    return jnp.log1p(jnp.abs(jnp.fft.rfft(frames * window)))

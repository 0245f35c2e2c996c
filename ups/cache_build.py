"""Fills the latent cache: each rank encodes its share of the samples into arrays made in full size before."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from ups.checkpoint import build_autoencoder
from ups.config import UpsConfig
from ups.data import latent_cache
from ups.data.reader import FieldReader
from ups.distributed import World, barrier, from_first
from ups.models.autoencoder import FieldAutoencoder
from ups.stages.material import Material

FRAMES_AT_ONCE = 64


def ensure_cache(
    config: UpsConfig, material: Material, state: dict[str, torch.Tensor], world: World, *, rebuild: bool = False
) -> str:
    """Makes `config.cache_dir` hold the latents of this encoder, unless it does; returns "built" or "reused".

    Raises DataError saying what differs where another encoder's latents are there (`rebuild` replaces
    them), UpsError before a byte is written where the disk is too small.
    """
    model = build_autoencoder(config, material.spec)
    model.load_state_dict(state)
    expected = latent_cache.expected_manifest(
        config,
        material.spec,
        material.normalisation,
        {"train": material.splits.train, "validation": material.splits.validation},
        state,
        (model.tokens, config.latent.dim),
    )
    folder = config.cache_dir
    temporary = None
    if world.is_first:
        if folder.exists() and any(folder.iterdir()) and not rebuild:
            latent_cache.check(folder, expected)
        else:
            temporary = latent_cache.reserve(folder, expected)
    temporary = from_first(temporary, world)
    if temporary is None:
        return "reused"
    _fill(temporary, material, model.to(world.device).eval(), world)
    barrier(world)
    if world.is_first:
        latent_cache.publish(temporary, folder, expected)
    barrier(world)
    return "built"


@torch.no_grad()
def _fill(folder: Path, material: Material, model: FieldAutoencoder, world: World) -> None:
    for split, samples in (("train", material.splits.train), ("validation", material.splits.validation)):
        for field, name in enumerate(material.spec.fields):
            array = np.lib.format.open_memmap(latent_cache.array_path(folder, split, name), mode="r+")
            for position in range(world.rank, len(samples), world.size):
                for start in range(0, material.spec.frames, FRAMES_AT_ONCE):
                    stop = min(start + FRAMES_AT_ONCE, material.spec.frames)
                    frames = _frames(material.reader, int(samples[position]), name, start, stop)
                    u_TXC = torch.from_numpy(material.normalisation.normalise(name, frames)).to(world.device)
                    array[position, start:stop] = model.encode(u_TXC, field).float().cpu().numpy()
            array.flush()


def _frames(reader: FieldReader, sample: int, name: str, start: int, stop: int) -> np.ndarray:
    if reader.spec.kind == "steady":
        return reader.field(sample, name)[None]
    return reader.frames(sample, start, stop)

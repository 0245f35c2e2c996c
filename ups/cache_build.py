"""Fills the latent cache: each rank encodes its share of the samples into arrays made in full size before."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ups.checkpoint import build_autoencoder, fill
from ups.config import UpsConfig
from ups.data import cache_guard, latent_cache
from ups.data.reader import FieldReader
from ups.distributed import World, barrier, first_decides
from ups.errors import from_os_error
from ups.models.autoencoder import FieldAutoencoder
from ups.stages.material import Material

FRAMES_AT_ONCE = 64


def ensure_cache(
    config: UpsConfig, material: Material, state: dict[str, torch.Tensor], world: World, *, rebuild: bool = False
) -> str:
    """Makes `config.cache_dir` hold the latents of this encoder, unless it does; returns "built" or "reused".

    Raises, on every rank alike, CacheRefusedError where another encoder's latents or damaged files are there
    (`rebuild` replaces them), UpsError before a byte is written where the disk is too small.
    """
    model = build_autoencoder(config, material.spec)
    fill(model, state, "autoencoder")
    expected, folder = expected_manifest(config, material, state), config.cache_dir
    if not rebuild:
        refuse_bad_cache(config, expected, world)
    temporary = first_decides(
        lambda _: latent_cache.reserve(folder, expected) if rebuild or not _has_files(folder) else None, world
    )
    if temporary is None:
        return "reused"
    _fill(temporary, expected, material, model.to(world.device).eval(), world)
    barrier(world)
    if world.is_first:
        latent_cache.publish(temporary, folder, expected)
    barrier(world)
    return "built"


def refuse_bad_cache(config: UpsConfig, expected: Mapping[str, Any], world: World) -> None:
    """Raises CacheRefusedError on every rank where the cache that is there would harm a training; rank 0 looks."""
    folder = config.cache_dir
    first_decides(lambda alive: cache_guard.examine(folder, expected, alive) if _has_files(folder) else None, world)


def expected_manifest(
    config: UpsConfig, material: Material, state: Mapping[str, torch.Tensor] | None = None
) -> dict[str, Any]:
    """Returns what the manifest of this cache must say; without the encoder's hash where it is not trained yet."""
    expected = latent_cache.expected_manifest(
        config,
        material.spec,
        material.normalisation,
        {"train": material.splits.train, "validation": material.splits.validation},
        state or {},
        (build_autoencoder(config, material.spec).tokens, config.latent.dim),
    )
    return {key: value for key, value in expected.items() if key != "encoder" or state is not None}


def _has_files(folder: Path) -> bool:
    try:
        return folder.exists() and any(folder.iterdir())
    except OSError as error:
        raise from_os_error(error, action="cannot read the latent cache", path=folder) from error


def _fill(folder: Path, expected: Mapping[str, Any], material: Material, model: FieldAutoencoder, world: World) -> None:
    layout, arrays = latent_cache.layout_of(expected)
    for split, samples in (("train", material.splits.train), ("validation", material.splits.validation)):
        for field, name in enumerate(material.spec.fields):
            array = arrays[latent_cache.array_name(split, name)]
            for position in range(world.rank, len(samples), world.size):
                latents = encoded(material, model, world, int(samples[position]), field)
                layout.write(folder, array, position, latents)


@torch.no_grad()
def encoded(material: Material, model: FieldAutoencoder, world: World, sample: int, field: int) -> np.ndarray:
    """Returns the latents of all frames of one sample, (T, S, D), float32."""
    name, frames, parts = material.spec.fields[field], material.spec.frames, []
    for start in range(0, frames, FRAMES_AT_ONCE):
        values = _frames(material.reader, sample, name, start, min(start + FRAMES_AT_ONCE, frames))
        u_TXC = torch.from_numpy(material.normalisation.normalise(name, values)).to(world.device)
        parts.append(model.encode(u_TXC, field).float().cpu().numpy())
    return np.concatenate(parts)


def _frames(reader: FieldReader, sample: int, name: str, start: int, stop: int) -> np.ndarray:
    if reader.spec.kind == "steady":
        return reader.field(sample, name)[None]
    return reader.frames(sample, start, stop)

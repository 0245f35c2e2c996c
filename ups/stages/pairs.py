"""The pairs that stages in latent space train and validate on: from the cache, or encoded step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.utils.data import Dataset

from ups.config import UpsConfig
from ups.data.datasets import PairDataset
from ups.data.latent_cache import LatentPairDataset
from ups.data.pairing import Pairing
from ups.stages.contract import Batch
from ups.stages.material import Material

Pairs = Dataset[dict[str, Any]]


def latent_pairs(
    config: UpsConfig, material: Material, *, cached: bool, pairing: Pairing | None = None
) -> tuple[Pairs, Pairs]:
    """Returns the pairs of training, as `pairing` has them, and those of validation, one frame to the next.

    Those of validation come with the field that is to come out.
    """
    train, validation = field_pairs(material, pairing)
    if not cached:
        return train, validation
    latents = LatentPairDataset(config.cache_dir, "train", material.spec, pairing)
    return latents, WithTruth(LatentPairDataset(config.cache_dir, "validation", material.spec), validation)


def field_pairs(material: Material, pairing: Pairing | None = None) -> tuple[PairDataset, PairDataset]:
    """Returns the pairs of training and validation as fields."""
    splits = material.splits
    train = PairDataset(material.reader, splits.train, material.normalisation, pairing)
    return train, PairDataset(material.reader, splits.validation, material.normalisation)


class WithTruth(Pairs):
    """Cached latents together with the field that is to come out of the decoder."""

    def __init__(self, latents: LatentPairDataset, fields: PairDataset) -> None:
        self.latents, self.fields = latents, fields

    def __len__(self) -> int:
        return len(self.latents)

    def __getitem__(self, index: int) -> dict[str, Any]:
        return {**self.latents[index], "u_out": self.fields[index]["u_out"]}

    def batch(self, indices: Sequence[int]) -> Batch:
        """Returns the items stacked."""
        u_out = torch.stack([self.fields[index]["u_out"] for index in indices])
        return {**self.latents.batch(indices), "u_out": u_out}

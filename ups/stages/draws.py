"""Random numbers of a training step that belong to a sample: the same on however many ranks, in whatever pieces.

Shapes: B batch.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ups.stages.contract import Batch

PRIME = 1_000_003
PURPOSES = 64  # kinds of numbers drawn for one sample in one step


def normal(batch: Batch, shape: Sequence[int], like: Tensor, purpose: int = 0) -> Tensor:
    """Returns standard normal numbers, (B, *shape), of the type and on the device of `like`.

    They depend on each sample's number and frame, on `batch["draw"]`, the step where the loop gives one, and on
    `purpose`. A batch without numbers, as checks make it, draws from the process's own generator.
    """
    return _rows(batch, shape, like, purpose, gaussian=True)


def uniform(batch: Batch, like: Tensor, purpose: int = 0) -> Tensor:
    """Returns numbers of [0, 1), (B,), drawn as `normal` does."""
    return _rows(batch, (), like, purpose, gaussian=False)


def _rows(batch: Batch, shape: Sequence[int], like: Tensor, purpose: int, *, gaussian: bool) -> Tensor:
    count, made = len(like), torch.randn if gaussian else torch.rand
    if "sample" not in batch:
        return made((count, *shape), dtype=like.dtype, device=like.device)
    rows, generator = [], torch.Generator()
    steps = batch["draw"].tolist() if "draw" in batch else [0] * count
    for sample, frame, step in zip(batch["sample"].tolist(), batch["frame"].tolist(), steps, strict=True):
        seed = ((int(step) * PRIME + int(sample)) * PRIME + int(frame)) * PURPOSES + purpose
        rows.append(made(tuple(shape), generator=generator.manual_seed(seed % 2**63)))
    return torch.stack(rows).to(like)

"""One plain torch file from the shards of all ranks: torch.load(path, weights_only=True) reads it anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch.distributed.checkpoint.metadata import TensorStorageMetadata

from ups.checkpointing import shards, state
from ups.checkpointing.newest import newest, opened
from ups.distributed import alone
from ups.errors import ConfigError
from ups.run_folder import RunFolder


def content_of(path: Path) -> dict[str, Any]:
    """Returns a checkpoint as plain containers and CPU tensors: its facts, model, ema, optimizer and ranks.

    `path` is a checkpoint's folder, a last.pt, or a run, whose newest good one is taken. Raises DataError.
    """
    found = _found(path)
    if found.old is not None:
        return dict(found.old)
    index = shards.read_index(found.path).state_dict_metadata
    sizes = {name: one for name, one in index.items() if isinstance(one, TensorStorageMetadata)}
    tensors = {name: torch.empty(one.size, dtype=one.properties.dtype) for name, one in sizes.items()}
    shards.read_into(tensors, found.path)
    content: dict[str, Any] = {"model": {}, "ema": {}, "optimizer": {}}
    for name, value in tensors.items():
        part, _, rest = name.partition("/")
        weight, _, key = rest.partition("/")
        if key:
            content[part].setdefault(weight, {})[key] = value
        else:
            content[part][weight] = value
    facts = {key: value for key, value in found.facts.items() if key not in ("files", "sha256")}
    ranks = [state.read_rank(found.path, rank) for rank in range(int(facts["world_size"]))]
    return {**facts, **content, "kind": "exported", "ranks": ranks}


def _found(path: Path) -> state.Found:
    if path.is_file() or RunFolder(path.parent.parent).checkpoints == path.parent:
        return opened(path)
    found = newest(RunFolder(path), alone(), say=lambda line: None) if RunFolder(path).saved() else None
    if found is None:
        raise ConfigError(f"{path} is neither a checkpoint nor a run that has one")
    return found

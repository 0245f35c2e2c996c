"""What of a training stage a checkpoint holds, by names that neither ranks nor wrappers change.

model/<weight>   ema/<weight>   optimizer/<weight>/<exp_avg, step, ...>     tensors, whole or sharded
rank-<n>.pt      random generators and meters of one rank
manifest.json    position, best error so far, the EMA's updates, and what every checkpoint says of its run
"""

from __future__ import annotations

import io
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ups.checkpointing import shards
from ups.data.torch_reason import torch_reason
from ups.distributed import World, on_all_ranks, seed_everything, set_random_state
from ups.ema import Ema
from ups.errors import AgreedError, DataError, UpsError
from ups.strategies.state import load_full, load_full_optimizer

WRAPPERS = ("_checkpoint_wrapped_module.", "_orig_mod.")  # what wrapping puts into a weight's name


@dataclass(frozen=True, slots=True)
class Found:
    """A checkpoint to go on from: its facts, and the folder, or the file that earlier versions wrote."""

    path: Path
    facts: Mapping[str, Any]
    old: Mapping[str, Any] | None = None  # the content of last.pt

    @property
    def stage(self) -> str:
        """The stage it was written in."""
        return str(self.facts["stage"])


@dataclass(frozen=True, slots=True)
class Restored:
    """What comes back beside tensors and random generators; `notes` say what is not as it was."""

    best: float
    meters: list[list[float]]
    step: Mapping[str, Any] | None  # how steps are cut and scaled, where that was written down
    notes: tuple[str, ...] = ()


def restored(
    found: Found, module: nn.Module, ema: Ema, optimizer: torch.optim.Optimizer, world: World, seed: int
) -> Restored:
    """Fills a stage from a checkpoint, on every rank; the number of ranks may be another one. Raises AgreedError."""
    if found.old is not None:
        load_full(module, found.old["model"])
        ema.load_state(found.old["ema"])
        load_full_optimizer(optimizer, found.old["optimizer"])
    else:
        on_every_rank(lambda: restore(found.path, module, ema.module, optimizer), world)
        ema.updates = int(found.facts["ema_updates"])
    before, best = int(found.facts["world_size"]), found.facts["best"]
    # Every rank reads all: the meters of ranks that are no more are counted on by the first.
    kept = found.old["ranks"] if found.old is not None else [read_rank(found.path, rank) for rank in range(before)]
    notes: tuple[str, ...] = ()
    if world.rank < before:
        set_random_state(kept[world.rank]["random"], world.device)
    else:
        seed_everything(seed + 1 + int(found.facts["position"]["step"]), world.rank)
    meters = [list(meter) for meter in kept[world.rank]["meters"]] if world.rank < before else []
    if before != world.size:
        meters = summed_meters(kept)
        meters = meters if world.is_first else [[0.0, count] for _, count in meters]
        new = f"; ranks {before} to {world.size - 1} draw new random numbers" if world.size > before else ""
        by = f"{before} rank{'s' * (before > 1)}"
        notes = (f"written by {by}, goes on with {world.size}: the same batches in the same order{new}",)
    return Restored(math.inf if best is None else float(best), meters, found.facts.get("step"), notes)


def tensors_of(module: nn.Module, average: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Returns the live tensors of a stage by name. Raises UpsError for a state that is no tensor."""
    found: dict[str, Any] = _weights(module, average)
    for weight, name in _names(module).items():
        for key, value in optimizer.state.get(weight, {}).items():
            found[f"optimizer/{name}/{key}"] = value
    odd = [name for name, value in found.items() if not isinstance(value, Tensor)]
    if odd:
        raise UpsError(f"a checkpoint holds tensors, and {odd[0]} is {type(found[odd[0]]).__name__}")
    return found


def restore(folder: Path, module: nn.Module, average: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Fills model, average and optimizer, on however many ranks and however sharded. Raises DataError."""
    index = shards.read_index(folder).state_dict_metadata
    wanted = _weights(module, average)
    sizes = {name: tuple(getattr(index.get(name), "size", ())) for name in wanted}
    other = [name for name, value in wanted.items() if name not in index or sizes[name] != tuple(value.shape)]
    weights = {name: weight for weight, name in _names(module).items()}
    kept = [name for name in index if name.startswith("optimizer/")]
    strange = [name for name in index if name not in wanted and name not in kept]
    strange += [name for name in kept if name.split("/")[1] not in weights]
    if other or strange:
        raise DataError(f"{folder} is of another model: {(other + strange)[0]} does not fit")
    for full in kept:
        _, name, key = full.split("/")
        state = optimizer.state[weights[name]]
        state[key] = wanted[full] = _like(weights[name], key, index[full], optimizer)
    shards.read_into(wanted, folder)


def rank_file(folder: Path, rank: int) -> Path:
    """Returns where one rank keeps what is its own."""
    return folder / f"rank-{rank}.pt"


def write_rank(folder: Path, rank: int, mine: bytes) -> Path:
    """Writes what a rank has for itself. Raises OSError."""
    path = rank_file(folder, rank)
    with path.open("wb") as file:
        file.write(mine)
        file.flush()
        os.fsync(file.fileno())
    return path


def packed(mine: Mapping[str, Any]) -> bytes:
    """Returns plain containers and tensors as `read_rank` reads them."""
    held = io.BytesIO()
    torch.save(dict(mine), held)
    return held.getvalue()


def read_rank(folder: Path, rank: int) -> dict[str, Any]:
    """Returns what one rank had for itself. Raises DataError."""
    path = rank_file(folder, rank)
    try:
        content: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, EOFError, ValueError) as error:
        reason = torch_reason(error) if isinstance(error, RuntimeError) else error
        raise DataError(f"{path} is damaged: {reason}") from error
    return content


def on_every_rank(work: Any, world: World) -> Any:
    """Returns `work()`; where it is refused on one rank, every rank raises the same sentence."""
    result, refused = None, None
    try:
        result = work()
    except UpsError as error:
        refused = (error.message, error.hint)
    for rank, one in enumerate(on_all_ranks(refused, world)):
        if one is not None:
            raise AgreedError(f"rank {rank}: {one[0]}", hint=one[1])
    return result


def summed_meters(ranks: Sequence[Mapping[str, Any]]) -> list[list[float]]:
    """Returns each meter as one rank has it that counted for all of them."""
    meters = zip(*(rank["meters"] for rank in ranks), strict=True)
    return [[sum(one[0] for one in meter), meter[0][1]] for meter in (list(each) for each in meters)]


def plain_name(name: str) -> str:
    """Returns a weight's name without what wrapping put into it."""
    for wrapper in WRAPPERS:
        name = name.replace(wrapper, "")
    return name


def _weights(module: nn.Module, average: nn.Module) -> dict[str, Any]:
    parts = (("model", module), ("ema", average))
    return {f"{part}/{plain_name(name)}": value for part, each in parts for name, value in each.state_dict().items()}


def _names(module: nn.Module) -> dict[Tensor, str]:
    return {weight: plain_name(name) for name, weight in module.named_parameters() if weight.requires_grad}


def _like(weight: Tensor, key: str, stored: Any, optimizer: torch.optim.Optimizer) -> Tensor:
    """Returns room for one tensor of an optimizer's state, sharded as its weight is."""
    dtype, size = stored.properties.dtype, stored.size
    if key != "step" and tuple(size) == tuple(weight.shape):
        return torch.zeros_like(weight, dtype=dtype).detach()
    group = next(one for one in optimizer.param_groups if any(each is weight for each in one["params"]))
    beside = key != "step" or group.get("fused") or group.get("capturable")  # else a step is counted on the CPU
    return torch.zeros(size, dtype=dtype, device=weight.device if beside else "cpu")

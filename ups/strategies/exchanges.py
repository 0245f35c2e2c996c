"""What a sharded model's ranks exchange in a step, in its order, so that one that fails can make the rest of it.

FSDP2 gathers and reduces block by block, in the middle of forward and backward: a rank that leaves would leave the
others waiting. The order is the same in each step, so a rank that has counted how far it came knows what is still
awaited: it gathers the weights as everybody does, and hands over NaN for the gradients.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch import distributed as dist
from torch.distributed.fsdp import FSDPModule

from ups.errors import UpsError

GATHER, REDUCE = "gather", "reduce"
Made = tuple[str, int]  # what was exchanged, and the number of the unit


@dataclass(frozen=True, slots=True)
class Reduction:
    """How one unit's gradients are summed and scattered."""

    numbers: int  # of all ranks' gradients
    kept: int  # of them, by one rank
    dtype: torch.dtype
    device: torch.device
    group: Any


class Exchanges:
    """Counts the exchanges of a micro-batch, and makes those that are left."""

    def __init__(self, units: Sequence[FSDPModule], replicas: Any) -> None:
        self.units, self.replicas = units, replicas
        self.order: list[Made] = []  # of a micro-batch that reduces
        self.reductions: dict[int, Reduction] = {}
        self.fail_at: tuple[str, Callable[[], None]] | None = None  # for drills
        self._made: list[Made] = []
        self._pieces, self._piece = 1, -1
        for number, unit in enumerate(units):
            unit.set_custom_all_gather(_Gather(self, number))  # type: ignore[arg-type]
            unit.set_custom_reduce_scatter(_Reduce(self, number))  # type: ignore[arg-type]

    def begin(self, pieces: int) -> None:
        """A step of so many micro-batches begins."""
        self._pieces, self._piece = pieces, -1
        self._made = []

    def piece_begins(self, piece: int) -> None:
        """The forward pass of a micro-batch begins."""
        self._piece = piece
        self._made = []

    def ended(self) -> None:
        """A step was made to its end: its last micro-batch is what the next ones will exchange."""
        if self.order != self._made:
            self.order = self._made

    def made(self, what: str, unit: int) -> None:
        """Notes one exchange."""
        self._made.append((what, unit))

    def about_to(self, what: str) -> None:
        """Memory for an exchange is needed: where a drill wants it, and half of the units are done, it is not there."""
        if self.fail_at is None or self.fail_at[0] != what:
            return
        if sum(one[0] == what for one in self._made) >= len(self.units) // 2:
            (_, fail), self.fail_at = self.fail_at, None
            fail()

    def finish(self) -> None:
        """Makes what the other ranks still wait for. Raises UpsError where the order is not what it was."""
        quiet = [one for one in self.order if one[0] == GATHER]
        made, self._made = self._made, []
        for piece in range(max(self._piece, 0), self._pieces):
            order = self.order if piece == self._pieces - 1 else quiet
            done = made if piece == self._piece else []
            if order[: len(done)] != done:
                raise UpsError("the model exchanged its weights in another order than before: the others are not told")
            for what, unit in order[len(done) :]:
                if what == GATHER:
                    self._gather(unit)
                else:
                    self._reduce(unit)

    def _gather(self, unit: int) -> None:
        self.units[unit].unshard()
        self.units[unit].reshard()

    def _reduce(self, unit: int) -> None:
        known = self.reductions[unit]
        nothing = torch.full((known.numbers,), math.nan, dtype=known.dtype, device=known.device)
        kept = torch.empty(known.kept, dtype=known.dtype, device=known.device)
        dist.reduce_scatter_single(kept, nothing, op=dist.ReduceOp.SUM, group=known.group)
        if self.replicas is not None:
            dist.all_reduce(kept, op=dist.ReduceOp.SUM, group=self.replicas)


class _Exchange:
    """One unit's exchange of a kind, as torch's FSDP2 calls it."""

    kind = GATHER

    def __init__(self, exchanges: Exchanges, unit: int) -> None:
        self._exchanges, self._unit = exchanges, unit

    def allocate(self, size: Sequence[int], *, dtype: torch.dtype, device: torch.device) -> Tensor:
        self._exchanges.about_to(self.kind)
        return torch.empty(*size, dtype=dtype, device=device)


class _Gather(_Exchange):
    def __call__(self, output_tensor: Tensor, input_tensor: Tensor, group: Any, async_op: bool = False) -> Any:
        self._exchanges.made(GATHER, self._unit)
        return dist.all_gather_single(output_tensor, input_tensor, group=group, async_op=async_op)


class _Reduce(_Exchange):
    kind = REDUCE

    def __call__(self, output_tensor: Tensor, input_tensor: Tensor, group: Any, op: Any, async_op: bool = False) -> Any:
        known = self._exchanges.reductions
        if self._unit not in known:
            known[self._unit] = Reduction(
                input_tensor.numel(), output_tensor.numel(), input_tensor.dtype, input_tensor.device, group
            )
        self._exchanges.made(REDUCE, self._unit)
        return dist.reduce_scatter_single(output_tensor, input_tensor, op=op, group=group, async_op=async_op)

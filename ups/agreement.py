"""A step that may fail on any rank and ends alike on all of them, without a collective of its own.

What a rank could not compute it hands over as NaN: the reduction of gradients, which every rank makes anyway, carries
that to all, and each sees it in the gradient norm, which it computes anyway. Only then do they ask each other what
happened, and all do the same about it: cut the batch into smaller pieces and try again, leave it out, or stop.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NoReturn, Protocol

import torch
from torch import Tensor

from ups.config import StageConfig
from ups.distributed import World, on_all_ranks
from ups.errors import AgreedError, DataError, UpsError
from ups.step.precision import Precision

_NO_MEMORY = ("can't allocate memory", "not enough memory", "out of memory")
_WORKER = "DataLoader worker"


class Trouble(StrEnum):
    """What a rank met, as the end of "rank 1 ..."."""

    MEMORY = "ran out of memory"
    LOSS = "had a loss that is not finite"
    BATCH = "could not read its batch"
    WORKER = "lost a data worker"
    OPTIMIZER = "ran out of memory inside the optimizer's step"


@dataclass(frozen=True, slots=True)
class Failure:
    """What one rank met in a step. `text` is the message of what was raised, "" where nothing was."""

    trouble: Trouble
    text: str = ""


def failure_of(error: BaseException) -> Failure | None:
    """Returns what ranks can agree on; None for a fault of the program, which has to end the rank."""
    text = str(error)
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return Failure(Trouble.MEMORY, _first_line(text))
    if isinstance(error, RuntimeError) and any(words in text for words in _NO_MEMORY):
        return Failure(Trouble.MEMORY, _first_line(text))
    if isinstance(error, RuntimeError) and text.startswith(_WORKER):
        return Failure(Trouble.WORKER, _first_line(text))
    return Failure(Trouble.BATCH, text) if isinstance(error, DataError) else None


class Notes(Protocol):
    """Where it is written down what was agreed on; on rank 0 alone it says anything."""

    def note(self, text: str, kind: str, stage: str, step: int, **values: float) -> None:
        """Shows a line, and keeps a record."""
        ...


class Agreement:
    """What all ranks of a stage do about steps that one of them cannot make; `pieces` is theirs alike."""

    def __init__(
        self,
        world: World,
        stage: str,
        settings: StageConfig,
        max_skips: int,
        notes: Notes,
        precision: Precision | None = None,
    ) -> None:
        self.pieces, self.skips, self._precision = settings.accumulate, 0, precision
        self._world, self._stage, self._max_skips, self._notes = world, stage, max_skips, notes
        self._most = -(-settings.batch_size // world.size)  # samples of a rank

    def try_again(self, failure: Failure | None, loss: Tensor, norm: Tensor, step: int, where: str) -> bool:
        """Returns whether the batch is taken again, in smaller pieces, or left out; every rank comes here.

        Raises AgreedError where all stop.
        """
        if failure is not None and self._world.size > 1 and math.isfinite(norm):
            raise UpsError(f"{told([failure])} {where}, too late to tell the others")
        if failure is None and not torch.isfinite(loss):
            failure = Failure(Trouble.LOSS)
        failures = on_all_ranks(failure, self._world)
        troubles = {one.trouble for one in failures if one is not None}
        if troubles == {Trouble.MEMORY} and self.pieces < self._most:
            self.pieces = min(2 * self.pieces, self._most)
            if self._world.device.type == "cuda":
                torch.cuda.empty_cache()
            text = f"{told(failures)} {where}: all ranks take the batch again in {self.pieces} pieces"
            self._notes.note(text, "retry", self._stage, step, pieces=self.pieces)
            return True
        if not troubles and self._precision is not None and self._precision.overflowed():
            scale = self._precision.scale
            text = f"float16 cannot hold the gradient {where}: all ranks take the batch again, loss scale {scale:g}"
            self._notes.note(text, "rescale", self._stage, step, scale=scale)
            return True
        self.skips += 1
        if Trouble.OPTIMIZER in troubles or self.skips > self._max_skips:
            self._stop(failures, where)
        text = f"{told(failures)} {where}: all ranks leave the batch out"
        self._notes.note(text, "skip", self._stage, step, skips=self.skips)
        return False

    def stop_if_any(self, failure: Failure | None, where: str) -> None:
        """Raises AgreedError on all ranks where one has a failure that it could not tell yet; every rank comes here."""
        failures = on_all_ranks(failure, self._world)
        if any(failures):
            self._stop(failures, where)

    def _stop(self, failures: Sequence[Failure | None], where: str) -> NoReturn:
        ranks = [str(rank) for rank, one in enumerate(failures) if one is not None and one.trouble is Trouble.LOSS]
        stage = f"stages.{self._stage}"
        what, hint = told(failures), "set training.micro_batch to fewer samples; then --resume"
        if len(ranks) == sum(one is not None for one in failures):
            what = f"the loss of rank {', '.join(ranks)} is not finite" if ranks else "the gradient is not finite"
            hint = f"lower {stage}.lr or grad_clip, or use training.precision=float32; then --resume"
        raise AgreedError(f"{what} {where}: all ranks stop, and the last checkpoint is good", hint=hint)


def told(failures: Sequence[Failure | None]) -> str:
    """Returns "rank 1 ran out of memory (...); rank 3 lost a data worker (...)" for what each rank met."""
    said = [
        f"rank {rank} {failure.trouble}{f' ({failure.text})' if failure.text else ''}"
        for rank, failure in enumerate(failures)
        if failure is not None
    ]
    return "; ".join(said) or "the gradient is not finite"


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:200]

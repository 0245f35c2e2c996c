"""What a process read from its loaders, as plain values: sources, passes over them, batches and prints of samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from diagnostics.core.frame import Frame


class SourceKind(Enum):
    """Where batches come from."""

    LOADER = 0
    INPUT = 1  # what an outermost module was given, in a job without loaders


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPrint:
    """One batch. A print of 0 was not made; `indices` are -1 where the sampler gave none."""

    number: int  # in its pass
    rows: int
    whole: int  # print of it all
    listed: int  # print of the indices the sampler gave, 0 where it gave none
    at_s: float  # since the file was made, at the first batch
    samples: tuple[int, ...]  # prints of rows, every n-th of a large batch
    indices: tuple[int, ...]  # of the same rows
    given: int  # rows that the model was given before the next batch
    constant: bool  # all that was read of it is the same word
    unread: bool  # it lay on a device, or is of a kind that cannot be read
    trained: bool  # a module was given some of it with gradients on
    evaluated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LoaderPass:
    """One iteration over a source. Order and set are of the `printed` batches only."""

    number: int
    batches: int
    printed: int
    rows: int
    order: int
    total: int  # the sum of all prints: the same for the same samples in any order
    index_order: int
    indexed: bool
    epoch: int | None  # of the sampler when it began; None: it has none
    epoch_now: int | None  # and when it was looked at last
    ended: bool  # it handed over all that it has
    steps: int  # of the busiest optimizer meanwhile
    optimizer: int  # which one stepped last, by the order of their first steps; 0 none
    trained: int  # batches of which a model was given some with gradients on
    own_epoch_calls: int  # of set_epoch on this sampler so far, then on others, and where the latest was
    other_epoch_calls: int
    epoch_path: tuple[Frame, ...]
    began_s: float
    log: tuple[BatchPrint, ...]

    @property
    def is_whole(self) -> bool:
        """Whether all that the loader has was handed over and printed."""
        return self.ended and self.printed == self.batches > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchSource:
    """A loader, by the line that built it."""

    kind: SourceKind
    built: tuple[Frame, ...]  # innermost first
    sampler: tuple[Frame, ...]
    facts: Mapping[str, str]
    passes: tuple[LoaderPass, ...]

    def number(self, name: str) -> int | None:
        """Returns one of the facts as a number, None where it was not told."""
        text = self.facts.get(name, "")
        return int(text) if text.isdecimal() and len(text) < 16 else None

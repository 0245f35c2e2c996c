"""Marks of what objects of the program hold or do: schedules that are heard by nobody. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from diagnostics.core.frame import Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class RatesLost:
    """Rates that were changed where no step reads them, while those of the steps stayed."""

    optimizer: int
    step: int
    since: int  # the step from which on
    changes: int
    rate: float  # that the steps use
    written: float
    scheduler: str  # of another optimizer; "" where groups of before a loaded state are written to
    made: tuple[Frame, ...]  # the scheduler, or where the state was loaded
    stepped: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerGrows:
    """Something that held ever more tensors over three looks: with their graphs, or large ones."""

    step: int
    path: str  # "board.meters['probe'].errors"
    name: str  # "errors"
    owner: str  # the class it is an attribute of, "" for a variable
    file: str  # of that class, or where the variable is
    length: int
    before: int  # at the look before
    steps: int  # between the two
    sum: bool  # not a container: one number that was added to
    entry_bytes: int = 0  # of the tensors in its latest entry, 0 where they have a graph
    stepped: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedNames:
    """A table or list of names, each with a number of its own from 0 on."""

    path: str  # "codec.label_id"
    name: str
    owner: str
    length: int
    names: int  # checksum of the sorted names
    numbers: int  # of their numbers, in that order
    first: tuple[tuple[str, int], ...]  # of some names


@dataclass(frozen=True, slots=True, kw_only=True)
class UnevenPasses:
    """Steps over micro-batches in which one target weighs more than another; of the median of some steps."""

    optimizer: int
    step: int  # the last of them
    ratio: float  # of the largest weight of one target to the smallest
    passes: int
    least: float  # targets of a micro-batch
    most: float
    backward: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldGenerator:
    """A random generator that the program holds, and its states in three steps: it was drawn from in each."""

    path: str  # "path.rng"
    name: str
    owner: str
    file: str
    states: tuple[int, ...]
    seed: int | None  # that it was given last, where it says so


@dataclass(frozen=True, slots=True, kw_only=True)
class Generators:
    """Those of a process at the last of three steps, and the seed of torch's own generator."""

    step: int
    seed: int | None
    held: tuple[HeldGenerator, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AverageRounded:
    """An average of the weights in low precision that was written to over a window of steps: how much of it moved."""

    step: int  # the last of them
    steps: int
    held: str  # "ema.shadow"
    name: str
    owner: str
    file: str
    kind: str
    tensors: int
    far: int  # numbers that are far from those of their source
    moved: int  # of them
    path: tuple[Frame, ...]


ObjectMark = AverageRounded | RatesLost | ContainerGrows | NumberedNames | UnevenPasses | Generators

"""Marks of models beside the one that learns, and of what parts of a model are to share."""

from __future__ import annotations

from dataclasses import dataclass

from diagnostics.core.frame import Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyIsStale:
    """A copy of the model that is evaluated in its place, with the weights that the model had before it trained."""

    model: int
    root: str
    rounds: int
    steps: int  # made before the latest round
    written: bool  # something writes to its parameters, and always what is there
    path: tuple[Frame, ...]  # of the evaluation


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyLacksStatistics:
    """A copy that is evaluated with batch norm as it was made, while that of the model it follows has counted."""

    root: str
    rounds: int
    steps: int
    parts: int  # layers of batch norm
    part: str  # the first of them
    batches: int  # that the model's own have counted
    path: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightsUntied:
    """A parameter that one module took from another, and of which each has its own by now; one optimizer holds both."""

    step: int
    first: str
    second: str
    kind: str  # "DTensor": they were sharded apart
    path: tuple[Frame, ...]  # where it was taken


@dataclass(frozen=True, slots=True, kw_only=True)
class PartWoken:
    """A frozen part in eval mode that a train() of the whole model put back into train mode."""

    step: int
    root: str
    part: str  # its path in the root
    part_class: str
    module: str  # the first in it whose mode matters: "norm (BatchNorm1d)"
    eval_at: tuple[Frame, ...]
    path: tuple[Frame, ...]  # of train()


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedUntrained:
    """A state that was saved of a model that is trained, of parameters that no optimizer ever held."""

    file: str
    names: tuple[str, ...]  # the first of them
    tensors: int
    learning: int  # parameters of the model that an optimizer holds
    step: int  # made before
    path: tuple[Frame, ...]  # of the save
    made: tuple[Frame, ...]  # of that optimizer


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticsLeft:
    """A file with all that learnt of a model, without the statistics that its batch norms counted meanwhile."""

    model: int
    root: str
    file: str
    parts: int  # layers of batch norm that counted
    part: str  # one of them
    batches: int  # that it counted
    frozen: bool  # none of their own weights learn
    learning: int  # parameters in the file that an optimizer held
    step: int  # made before
    path: tuple[Frame, ...]  # of the save


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchAsTime:
    """A layer without batch_first: the model gives one row for each of its first dimension, nothing of the second."""

    run: int  # looks so far that saw it
    layer: str  # its class
    rows: int
    steps: int
    given: str  # shape
    picked: bool  # one step of the second dimension is taken
    path: tuple[Frame, ...]  # of the layer's call


ModelMark = (
    PartWoken | CopyIsStale | CopyLacksStatistics | WeightsUntied | SavedUntrained | StatisticsLeft | BatchAsTime
)

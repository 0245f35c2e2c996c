"""Reads the marks among a process's prints: what was so for many steps in a row, and what was loaded and saved. Pure.

They are untrusted as all of that file is: what has the wrong type counts as missing, sizes are bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from diagnostics.core.frame import Frame
from diagnostics.core.frame_owners import Homes
from diagnostics.record.json_frames import count_of, frames_of, real_of, some_of
from diagnostics.record.untrusted_values import number_of, text_of

MOST_TENSORS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptGradients:
    """The gradient that one step used was there, untouched, when the next pass added to it, `run` times in a row."""

    optimizer: int
    step: int  # of the latest of them
    run: int
    read: bool  # its numbers, too: they were not zero
    stepped: tuple[Frame, ...]
    backward: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalModeLeft:
    """Steps whose forward passes all ran in eval mode, after others of the same optimizer in train mode."""

    optimizer: int
    step: int
    run: int
    trained: int  # steps in train mode before
    root: str
    module: str  # "2 (Dropout)": the first for which it matters
    evaluating: tuple[Frame, ...]  # where eval() was called last
    stepped: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatedInTrain:
    """Passes without gradients in train mode, `runs` times several in a row, while eval() was never called."""

    root: str
    module: str  # the first batch norm
    runs: int
    trained: int
    optimizers: int
    path: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RateGone:
    """Steps with a learning rate that came down to nothing."""

    optimizer: int
    step: int
    run: int
    first: int  # the first of these steps
    rate: float
    peak: float
    scheduler: str  # its class, "" without one
    stepped: int | None  # how often it was
    horizon: int | None  # after how many of its steps it ends, as far as it says so
    made: tuple[Frame, ...]
    path: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LossLeftOut:
    """Passes in a row, with no step between them, at a loss that is no finite number; `name`: before backward()."""

    run: int
    step: int  # steps made before
    backwards: int
    loss: float
    name: str
    path: tuple[Frame, ...]
    guard: bool = False  # the path is that of the line that asked whether it is finite


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorRange:
    """The finite numbers that were read of a tensor."""

    shape: str
    read: int
    bad: int  # that were not finite
    least: float | None
    most: float | None
    rms: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstNotFinite:
    """One forward pass that was looked at module by module; `module` None: all outputs were finite."""

    step: int
    modules: int  # that were looked at
    module: str | None
    class_name: str
    inputs: tuple[TensorRange, ...]
    outputs: tuple[TensorRange, ...]  # of that module, else of the last one
    weights_finite: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalerSkips:
    """Calls of GradScaler.step in a row that made no step."""

    optimizer: int | None
    run: int
    steps: int  # made before
    path: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeafLosses:
    """Backward passes on tensors without a graph."""

    run: int
    backwards: int
    path: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NothingLoaded:
    """A state of which no entry fitted the model."""

    model: int
    root: str
    keys: int
    given: tuple[str, ...]
    wanted: tuple[str, ...]
    step: int
    path: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedFile:
    """A file that torch.save wrote."""

    file: str
    began_ns: int
    ended_ns: int
    empty: bool  # what is a state of a model by its name has no entry
    step: int
    path: tuple[Frame, ...]
    counter: int | None = None  # the epoch or step that stands in it


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadState:
    """A file that torch.load read before the first step."""

    file: str
    counter: int | None  # the epoch or step that stands in it
    optimizer: bool  # the state of one is in it
    path: tuple[Frame, ...]


Mark = (
    KeptGradients | EvalModeLeft | EvaluatedInTrain | RateGone | LossLeftOut | FirstNotFinite | ScalerSkips
    | LeafLosses | NothingLoaded | SavedFile | ReadState
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Retracted:
    """Something was loaded into a model after all, or a model was put into eval mode."""

    kind: type
    model: int = 0


def mark_from(value: Mapping[str, Any], homes: Homes) -> Mark | Retracted | None:
    """Returns the mark in one line, None where it is none."""
    make = _MAKERS.get(text_of(value.get("what")))
    return make(value, homes) if make is not None else None


def still_so(marks: list[Mark | Retracted]) -> tuple[Mark, ...]:
    """Returns the marks that no later one took back."""
    found: list[Mark] = []
    for mark in marks:
        if isinstance(mark, Retracted):
            found = [one for one in found if not isinstance(one, mark.kind) or getattr(one, "model", 0) != mark.model]
        else:
            found.append(mark)
    return tuple(found)


def _kept(value: Mapping[str, Any], homes: Homes) -> KeptGradients:
    return KeptGradients(
        optimizer=count_of(value.get("optimizer")), step=count_of(value.get("step")), run=count_of(value.get("run")),
        read=value.get("read") is True, stepped=frames_of(value.get("at"), homes),
        backward=frames_of(value.get("backward_at"), homes),
    )  # fmt: skip


def _eval_left(value: Mapping[str, Any], homes: Homes) -> EvalModeLeft:
    return EvalModeLeft(
        optimizer=count_of(value.get("optimizer")), step=count_of(value.get("step")), run=count_of(value.get("run")),
        trained=count_of(value.get("trained")), root=text_of(value.get("root")), module=text_of(value.get("module")),
        evaluating=frames_of(value.get("eval_at"), homes), stepped=frames_of(value.get("at"), homes),
    )  # fmt: skip


def _evaluated(value: Mapping[str, Any], homes: Homes) -> EvaluatedInTrain:
    return EvaluatedInTrain(
        root=text_of(value.get("root")), module=text_of(value.get("norm")), runs=count_of(value.get("runs")),
        trained=count_of(value.get("trained")), optimizers=count_of(value.get("optimizers")),
        path=frames_of(value.get("at"), homes),
    )  # fmt: skip


def _rate_gone(value: Mapping[str, Any], homes: Homes) -> RateGone:
    return RateGone(
        optimizer=count_of(value.get("optimizer")), step=count_of(value.get("step")), run=count_of(value.get("run")),
        first=count_of(value.get("first")), rate=real_of(value.get("rate")) or 0.0,
        peak=real_of(value.get("peak")) or 0.0, scheduler=text_of(value.get("scheduler")),
        stepped=number_of(value.get("stepped")), horizon=number_of(value.get("horizon")),
        made=frames_of(value.get("made"), homes), path=frames_of(value.get("at"), homes),
    )  # fmt: skip


def _left_out(value: Mapping[str, Any], homes: Homes) -> LossLeftOut:
    loss = real_of(value.get("loss"))
    return LossLeftOut(
        run=count_of(value.get("run")), step=count_of(value.get("step")),
        backwards=count_of(value.get("backwards")), loss=float("nan") if loss is None else loss,
        name=text_of(value.get("name")), path=frames_of(value.get("at"), homes), guard=value.get("guard") is True,
    )  # fmt: skip


def _origin(value: Mapping[str, Any], homes: Homes) -> FirstNotFinite:
    first = value.get("first")
    last = value.get("last")
    told: Mapping[str, Any] = first if isinstance(first, Mapping) else last if isinstance(last, Mapping) else {}
    return FirstNotFinite(
        step=count_of(value.get("step")), modules=count_of(value.get("modules")),
        module=text_of(told.get("module")) if told is first else None, class_name=text_of(told.get("class")),
        inputs=_ranges(told.get("input")), outputs=_ranges(told.get("output")),
        weights_finite=told.get("weights_finite") is not False,
    )  # fmt: skip


def _ranges(value: Any) -> tuple[TensorRange, ...]:
    return tuple(
        TensorRange(
            shape=text_of(one.get("shape")), read=count_of(one.get("read")), bad=count_of(one.get("bad")),
            least=real_of(one.get("least")), most=real_of(one.get("most")), rms=real_of(one.get("rms")),
        )
        for one in some_of(value, MOST_TENSORS)
        if isinstance(one, Mapping)
    )  # fmt: skip


def _skips(value: Mapping[str, Any], homes: Homes) -> ScalerSkips:
    return ScalerSkips(
        optimizer=number_of(value.get("optimizer")), run=count_of(value.get("run")), steps=count_of(value.get("steps")),
        path=frames_of(value.get("at"), homes),
    )  # fmt: skip


def _leaves(value: Mapping[str, Any], homes: Homes) -> LeafLosses:
    path = frames_of(value.get("at"), homes)
    return LeafLosses(run=count_of(value.get("run")), backwards=count_of(value.get("backwards")), path=path)


def _loaded(value: Mapping[str, Any], homes: Homes) -> NothingLoaded:
    return NothingLoaded(
        model=count_of(value.get("model")), root=text_of(value.get("root")), keys=count_of(value.get("keys")),
        given=tuple(text_of(one) for one in some_of(value.get("given"), MOST_TENSORS)),
        wanted=tuple(text_of(one) for one in some_of(value.get("wanted"), MOST_TENSORS)),
        step=count_of(value.get("step")), path=frames_of(value.get("at"), homes),
    )  # fmt: skip


def _saved(value: Mapping[str, Any], homes: Homes) -> SavedFile:
    return SavedFile(
        file=text_of(value.get("file")), began_ns=count_of(value.get("began")), ended_ns=count_of(value.get("ns")),
        empty=value.get("empty") is True, step=count_of(value.get("step")), path=frames_of(value.get("at"), homes),
        counter=number_of(value.get("counter")),
    )  # fmt: skip


def _read(value: Mapping[str, Any], homes: Homes) -> ReadState:
    return ReadState(
        file=text_of(value.get("file")), counter=number_of(value.get("counter")),
        optimizer=value.get("optimizer") is True, path=frames_of(value.get("at"), homes),
    )  # fmt: skip


_MAKERS: dict[str, Callable[[Mapping[str, Any], Homes], Mark | Retracted]] = {
    "kept-gradients": _kept, "eval-mode": _eval_left, "evaluated-in-train": _evaluated, "rate-gone": _rate_gone,
    "loss-left-out": _left_out, "bad-losses": _left_out, "origin": _origin, "scaler-skips": _skips,
    "leaf-losses": _leaves, "nothing-loaded": _loaded, "saved": _saved, "read": _read,
    "something-loaded": lambda value, _: Retracted(kind=NothingLoaded, model=count_of(value.get("model"))),
    "evaluated-after-all": lambda value, _: Retracted(kind=EvaluatedInTrain),
}  # fmt: skip

"""Reads prints-PID-START.jsonl: samples of parameters and gradients at a few steps, as an agent wrote them. Pure.

The file is untrusted: what has the wrong type counts as missing, a line that is none is left out, sizes are bounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from diagnostics.core import untrusted_json
from diagnostics.core.frame import Frame
from diagnostics.core.frame_owners import NOWHERE, Homes
from diagnostics.record.untrusted_values import number_of, text_of

MOST_LINES, MOST_TENSORS, MOST_FRAMES, MOST_WRAPPERS, MOST_RANKS = 500, 400, 8, 8, 4096
_NOT_FINITE = ("nan", "inf")
Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorPrint:
    """A sample of one tensor. `why` says why there is none: "none" (no gradient), "device", "sharded", "sparse"."""

    checksum: int = 0
    size: float | None = None  # root mean square of the sampled numbers; NaN or infinite where one of them is
    first: float | None = None
    why: str = ""

    @property
    def read(self) -> bool:
        """Whether there is a sample."""
        return not self.why

    @property
    def is_zero(self) -> bool:
        """Whether all sampled numbers are zero."""
        return self.read and self.size == 0

    @property
    def is_finite(self) -> bool:
        """Whether no sampled number is known not to be."""
        return self.size is None or abs(self.size) < float("inf")


NO_GRADIENT = TensorPrint(why="none")


@dataclass(frozen=True, slots=True, kw_only=True)
class WrapperFacts:
    """A DistributedDataParallel at one moment."""

    class_name: str  # of what it wraps
    made: tuple[Frame, ...]
    ranks: tuple[int, ...]
    iterations: int | None  # forward passes with synchronisation before the latest one; None unknown
    ran: bool  # its own forward
    synchronised: bool  # in its latest forward
    inner_called: bool  # what it wraps, or a part of that, was called from outside
    inner_call: tuple[Frame, ...]  # where that was first done
    ignored: int  # parameters that it was told to leave alone
    hooks: int  # communication hooks


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizedModel:
    """The parameters of one optimizer, as it had them from one look on."""

    optimizer: int  # in the order of first steps
    class_name: str
    stepped: tuple[Frame, ...]
    made: tuple[Frame, ...]
    names: tuple[str, ...]
    shapes: tuple[str, ...]
    wrapper: tuple[int, ...]  # N: synchronised by the Nth; -N: inside of it and left alone; 0: in none
    sharded: tuple[bool, ...]
    in_model: tuple[bool, ...]  # whether a module that was called or wrapped holds it
    loose: tuple[tuple[str, str], ...] = ()  # name and shape of parameters with a gradient and in no optimizer
    loose_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """The state just before one step of one optimizer."""

    model: OptimizedModel
    step: int  # from 1 on
    values: tuple[TensorPrint, ...]
    gradients: tuple[TensorPrint, ...]
    rates: tuple[float | None, ...]  # learning rates of its groups
    graded: int | None  # parameters whose gradient was not zero right after the latest backward pass; None unknown
    closure: bool  # its step was given a function that computes gradients anew
    loss: float | None
    backwards: int
    world_size: int
    number: int | None  # the default group's own counter
    wrappers: tuple[WrapperFacts, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BadLoss:
    """A backward pass began at a loss that is no finite number."""

    loss: float
    backward: int
    steps: int  # optimizer steps made or begun until then
    path: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterPrints:
    """All of one process, in order."""

    looks: tuple[Look, ...] = ()
    bad_losses: tuple[BadLoss, ...] = ()

    def of_optimizer(self, optimizer: int) -> tuple[Look, ...]:
        """The looks at one optimizer."""
        return tuple(look for look in self.looks if look.model.optimizer == optimizer)


def prints_from_text(text: str, homes: Homes = NOWHERE) -> ParameterPrints:
    """Returns what such a file says."""
    models: dict[int, OptimizedModel] = {}
    looks, bad = [], []
    for line in text.splitlines()[:MOST_LINES]:
        try:
            value = untrusted_json.loads(line)
        except ValueError:  # the last one may be half-written
            continue
        if not isinstance(value, Mapping):
            continue
        match value.get("what"):
            case "model":
                model = _model(value, homes)
                models[model.optimizer] = model
            case "step":
                look = _look(value, models.get(_count(value.get("optimizer"))), homes)
                looks += [look] if look is not None else []
            case "bad-loss":
                bad.append(_bad_loss(value, homes))
    return ParameterPrints(looks=tuple(looks), bad_losses=tuple(bad))


def _model(value: Mapping[str, Any], homes: Homes) -> OptimizedModel:
    names = tuple(text_of(one) for one in _some(value.get("names"), MOST_TENSORS))
    loose = [one for one in _some(value.get("loose"), MOST_TENSORS) if isinstance(one, list) and len(one) == 2]
    return OptimizedModel(
        optimizer=_count(value.get("optimizer")),
        class_name=text_of(value.get("class")),
        stepped=_frames(value.get("at"), homes),
        made=_frames(value.get("made"), homes),
        names=names,
        shapes=_filled((text_of(one) for one in _some(value.get("shapes"), MOST_TENSORS)), len(names), ""),
        wrapper=_filled((number_of(one) or 0 for one in _some(value.get("wrapper"), MOST_TENSORS)), len(names), 0),
        sharded=_filled((one is True for one in _some(value.get("sharded"), MOST_TENSORS)), len(names), False),
        in_model=_filled((one is True for one in _some(value.get("in_model"), MOST_TENSORS)), len(names), True),
        loose=tuple((text_of(name), text_of(shape)) for name, shape in loose),
        loose_count=_count(value.get("loose_count")),
    )


def _look(value: Mapping[str, Any], model: OptimizedModel | None, homes: Homes) -> Look | None:
    if model is None:
        return None
    tensors = len(model.names)
    unread = TensorPrint(why="unread")
    return Look(
        model=model,
        step=_count(value.get("step")),
        values=_filled((_print(one) for one in _some(value.get("values"), MOST_TENSORS)), tensors, unread),
        gradients=_filled((_print(one) for one in _some(value.get("gradients"), MOST_TENSORS)), tensors, unread),
        rates=tuple(_real(one) for one in _some(value.get("rates"), MOST_WRAPPERS)),
        graded=number_of(value.get("graded")),
        closure=value.get("closure") is True,
        loss=_real(value.get("loss")),
        backwards=_count(value.get("backwards")),
        world_size=_count(value.get("world_size")),
        number=number_of(value.get("number")),
        wrappers=tuple(
            _wrapper(one, homes) for one in _some(value.get("wrappers"), MOST_WRAPPERS) if isinstance(one, Mapping)
        ),
    )


def _wrapper(value: Mapping[str, Any], homes: Homes) -> WrapperFacts:
    return WrapperFacts(
        class_name=text_of(value.get("class")),
        made=_frames(value.get("at"), homes),
        ranks=tuple(_count(one) for one in _some(value.get("ranks"), MOST_RANKS)),
        iterations=number_of(value.get("iterations")),
        ran=value.get("ran") is not False,
        synchronised=value.get("synchronised") is not False,
        inner_called=value.get("inner_called") is True,
        inner_call=_frames(value.get("inner_at"), homes),
        ignored=_count(value.get("ignored")),
        hooks=_count(value.get("hooks")),
    )


def _bad_loss(value: Mapping[str, Any], homes: Homes) -> BadLoss:
    loss = _real(value.get("loss"))
    return BadLoss(
        loss=float("nan") if loss is None else loss,
        backward=_count(value.get("backward")),
        steps=_count(value.get("steps")),
        path=_frames(value.get("at"), homes),
    )


def _print(value: Any) -> TensorPrint:
    match value:
        case None:
            return NO_GRADIENT
        case [checksum, size, first]:
            return TensorPrint(checksum=_count(checksum), size=_real(size), first=_real(first))
    return TensorPrint(why=text_of(value) or "unread")


def _frames(value: Any, homes: Homes) -> tuple[Frame, ...]:
    listed = [one for one in _some(value, MOST_FRAMES) if isinstance(one, list) and len(one) == 3]
    frames = (
        Frame(file=text_of(file), line=number_of(line) or 0, function=text_of(name)) for file, line, name in listed
    )
    return homes.kept(frame for frame in frames if frame.file)


def _real(value: Any) -> float | None:
    if isinstance(value, str):
        return float(value) if value in _NOT_FINITE else None
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _count(value: Any) -> int:
    return max(0, number_of(value) or 0)


def _some(value: Any, most: int) -> list[Any]:
    return value[:most] if isinstance(value, list) else []


def _filled(values: Iterator[Kind], length: int, rest: Kind) -> tuple[Kind, ...]:
    found = list(values)[:length]
    return tuple(found + [rest] * (length - len(found)))

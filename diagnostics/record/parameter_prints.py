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
from diagnostics.record.json_frames import count_of, frames_of, real_of, some_of
from diagnostics.record.training_mark_lines import mark_from
from diagnostics.record.training_marks import Mark, Retracted, still_so
from diagnostics.record.untrusted_values import number_of, text_of

MOST_LINES, MOST_TENSORS, MOST_WRAPPERS, MOST_RANKS = 700, 400, 8, 4096
Kind = TypeVar("Kind")
Told = TypeVar("Told")


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
    learns: tuple[bool, ...] = ()  # whether it requires gradients
    loose: tuple[tuple[str, str], ...] = ()  # name and shape of parameters with a gradient and in no optimizer
    loose_count: int = 0
    buffers: tuple[tuple[str, str], ...] = ()  # name and shape; those of batch norm are left out
    late: int = 0  # of the loose ones, in modules that were made after the first optimizer
    loaded: bool = True  # a state was read from somewhere
    group: tuple[int, ...] = ()  # which of the optimizer's groups holds it


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
    loose: tuple[tuple[TensorPrint, TensorPrint], ...] = ()  # the model's loose parameters and their gradients
    buffers: tuple[TensorPrint, ...] = ()  # the model's
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
    marks: tuple[Mark, ...] = ()

    def of_optimizer(self, optimizer: int) -> tuple[Look, ...]:
        """The looks at one optimizer, since it has held the parameters of the last one: their indices are alike."""
        looks = [look for look in self.looks if look.model.optimizer == optimizer]
        last = looks[-1].model if looks else None
        return tuple(
            look
            for look in looks
            if last is not None and (look.model.names, look.model.shapes) == (last.names, last.shapes)
        )

    def marks_of(self, kind: type[Told]) -> tuple[Told, ...]:
        """The marks of one kind."""
        return tuple(mark for mark in self.marks if isinstance(mark, kind))


def prints_from_text(text: str, homes: Homes = NOWHERE) -> ParameterPrints:
    """Returns what such a file says."""
    models: dict[int, OptimizedModel] = {}
    looks, bad = [], []
    marks: list[Mark | Retracted] = []
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
                look = _look(value, models.get(count_of(value.get("optimizer"))), homes)
                looks += [look] if look is not None else []
            case "bad-loss":
                bad.append(_bad_loss(value, homes))
            case _:
                mark = mark_from(value, homes)
                marks += [mark] if mark is not None else []
    return ParameterPrints(looks=tuple(looks), bad_losses=tuple(bad), marks=still_so(marks))


def _model(value: Mapping[str, Any], homes: Homes) -> OptimizedModel:
    names = tuple(text_of(one) for one in some_of(value.get("names"), MOST_TENSORS))
    return OptimizedModel(
        optimizer=count_of(value.get("optimizer")),
        class_name=text_of(value.get("class")),
        stepped=frames_of(value.get("at"), homes),
        made=frames_of(value.get("made"), homes),
        names=names,
        shapes=_filled((text_of(one) for one in some_of(value.get("shapes"), MOST_TENSORS)), len(names), ""),
        wrapper=_filled((number_of(one) or 0 for one in some_of(value.get("wrapper"), MOST_TENSORS)), len(names), 0),
        sharded=_filled((one is True for one in some_of(value.get("sharded"), MOST_TENSORS)), len(names), False),
        in_model=_filled((one is True for one in some_of(value.get("in_model"), MOST_TENSORS)), len(names), True),
        learns=_filled((one is True for one in some_of(value.get("learns"), MOST_TENSORS)), len(names), False),
        loose=_named(value.get("loose")),
        buffers=_named(value.get("buffers")),
        loose_count=count_of(value.get("loose_count")),
        late=count_of(value.get("late")),
        loaded=value.get("loaded") is not False,
        group=_filled((count_of(one) for one in some_of(value.get("group"), MOST_TENSORS)), len(names), 0),
    )


def _named(value: Any) -> tuple[tuple[str, str], ...]:
    listed = [one for one in some_of(value, MOST_TENSORS) if isinstance(one, list) and len(one) == 2]
    return tuple((text_of(name), text_of(shape)) for name, shape in listed)


def _look(value: Mapping[str, Any], model: OptimizedModel | None, homes: Homes) -> Look | None:
    if model is None:
        return None
    tensors = len(model.names)
    unread = TensorPrint(why="unread")
    return Look(
        model=model,
        step=count_of(value.get("step")),
        values=_filled((_print(one) for one in some_of(value.get("values"), MOST_TENSORS)), tensors, unread),
        gradients=_filled((_print(one) for one in some_of(value.get("gradients"), MOST_TENSORS)), tensors, unread),
        rates=tuple(real_of(one) for one in some_of(value.get("rates"), MOST_WRAPPERS)),
        graded=number_of(value.get("graded")),
        closure=value.get("closure") is True,
        loss=real_of(value.get("loss")),
        backwards=count_of(value.get("backwards")),
        world_size=count_of(value.get("world_size")),
        number=number_of(value.get("number")),
        loose=tuple(
            (_print(one[0]), _print(one[1]))
            for one in some_of(value.get("loose"), MOST_TENSORS)
            if isinstance(one, list) and len(one) == 2
        ),
        buffers=_filled(
            (_print(one) for one in some_of(value.get("buffers"), MOST_TENSORS)), len(model.buffers), unread
        ),
        wrappers=tuple(
            _wrapper(one, homes) for one in some_of(value.get("wrappers"), MOST_WRAPPERS) if isinstance(one, Mapping)
        ),
    )


def _wrapper(value: Mapping[str, Any], homes: Homes) -> WrapperFacts:
    return WrapperFacts(
        class_name=text_of(value.get("class")),
        made=frames_of(value.get("at"), homes),
        ranks=tuple(count_of(one) for one in some_of(value.get("ranks"), MOST_RANKS)),
        iterations=number_of(value.get("iterations")),
        ran=value.get("ran") is not False,
        synchronised=value.get("synchronised") is not False,
        inner_called=value.get("inner_called") is True,
        inner_call=frames_of(value.get("inner_at"), homes),
        ignored=count_of(value.get("ignored")),
        hooks=count_of(value.get("hooks")),
    )


def _bad_loss(value: Mapping[str, Any], homes: Homes) -> BadLoss:
    loss = real_of(value.get("loss"))
    return BadLoss(
        loss=float("nan") if loss is None else loss,
        backward=count_of(value.get("backward")),
        steps=count_of(value.get("steps")),
        path=frames_of(value.get("at"), homes),
    )


def _print(value: Any) -> TensorPrint:
    match value:
        case None:
            return NO_GRADIENT
        case [checksum, size, first]:
            return TensorPrint(checksum=count_of(checksum), size=real_of(size), first=real_of(first))
    return TensorPrint(why=text_of(value) or "unread")


def _filled(values: Iterator[Kind], length: int, rest: Kind) -> tuple[Kind, ...]:
    found = list(values)[:length]
    return tuple(found + [rest] * (length - len(found)))

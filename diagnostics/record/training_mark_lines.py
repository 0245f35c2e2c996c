"""Reads the marks among a process's prints. Pure.

They are untrusted as all of that file is: what has the wrong type counts as missing, sizes are bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from diagnostics.core.frame_owners import Homes
from diagnostics.record.json_frames import count_of, frames_of, real_of, some_of
from diagnostics.record.marks import loss_marks, model_marks, object_marks, run_marks, schedule_marks
from diagnostics.record.training_marks import (
    ClippedScaled,
    EvalModeLeft,
    EvaluatedInTrain,
    FirstNotFinite,
    GraphCut,
    HooksGrow,
    KeptGradients,
    LeafLosses,
    LossLeftOut,
    LossSpread,
    LostPasses,
    Mark,
    NothingLoaded,
    OpenReductions,
    PartInEval,
    RateByNumber,
    RateGone,
    RateSquared,
    ReadState,
    Retracted,
    RoundedUpdates,
    SavedFile,
    ScalerSkips,
    ScheduleOver,
    StateNotKept,
    TensorRange,
)
from diagnostics.record.untrusted_values import number_of, text_of

MOST_TENSORS, MOST_DIMENSIONS, MOST_NAMES, MOST_GENERATORS, MOST_NUMBERS = 4, 8, 8, 16, 64


def mark_from(value: Mapping[str, Any], homes: Homes) -> Mark | Retracted | None:
    """Returns the mark in one line, None where it is none."""
    make = _MAKERS.get(text_of(value.get("what")))
    return make(value, homes) if make is not None else None


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


def _loaded(value: Mapping[str, Any], homes: Homes) -> NothingLoaded:
    return NothingLoaded(
        model=count_of(value.get("model")), root=text_of(value.get("root")), keys=count_of(value.get("keys")),
        given=tuple(text_of(one) for one in some_of(value.get("given"), MOST_TENSORS)),
        wanted=tuple(text_of(one) for one in some_of(value.get("wanted"), MOST_TENSORS)),
        step=count_of(value.get("step")), path=frames_of(value.get("at"), homes), fits=value.get("fits") is True,
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
        at_ns=count_of(value.get("ns")),
    )  # fmt: skip


def _clipped(value: Mapping[str, Any], homes: Homes) -> ClippedScaled:
    return ClippedScaled(
        optimizer=number_of(value.get("optimizer")), run=count_of(value.get("run")),
        limit=real_of(value.get("limit")) or 0.0, norm=real_of(value.get("norm")), scale=real_of(value.get("scale")),
        path=frames_of(value.get("at"), homes),
    )  # fmt: skip


def _not_kept(value: Mapping[str, Any], homes: Homes) -> StateNotKept:
    return StateNotKept(
        loaded=value.get("loaded") is True, root=text_of(value.get("root")), file=text_of(value.get("file")),
        since=count_of(value.get("since")), step=count_of(value.get("step")),
        taken=frames_of(value.get("taken"), homes), path=frames_of(value.get("at"), homes),
    )  # fmt: skip


def _cut(value: Mapping[str, Any], homes: Homes) -> GraphCut:
    return GraphCut(
        run=count_of(value.get("run")), step=count_of(value.get("step")),
        parameters=count_of(value.get("parameters")), path=frames_of(value.get("at"), homes),
        names=tuple(text_of(one) for one in some_of(value.get("names"), MOST_NAMES)),
    )  # fmt: skip


def _spread(value: Mapping[str, Any], homes: Homes) -> LossSpread:
    return LossSpread(
        run=count_of(value.get("run")), given=_shape(value.get("given")), made=_shape(value.get("made")),
        path=frames_of(value.get("at"), homes), function=text_of(value.get("function")),
    )  # fmt: skip


def _shape(value: Any) -> tuple[int, ...]:
    return tuple(count_of(one) for one in some_of(value, MOST_DIMENSIONS))


def _over(value: Mapping[str, Any], homes: Homes) -> ScheduleOver:
    return ScheduleOver(
        optimizer=count_of(value.get("optimizer")), step=count_of(value.get("step")),
        scheduler=text_of(value.get("scheduler")), stepped=count_of(value.get("stepped")),
        horizon=count_of(value.get("horizon")), made=frames_of(value.get("made"), homes),
    )  # fmt: skip


def _squared(value: Mapping[str, Any], homes: Homes) -> RateSquared:
    return RateSquared(
        optimizer=count_of(value.get("optimizer")), step=count_of(value.get("step")),
        base=real_of(value.get("base")) or 0.0, peak=real_of(value.get("peak")) or 0.0,
        rate=real_of(value.get("rate")) or 0.0, stepped=count_of(value.get("stepped")),
        made=frames_of(value.get("made"), homes),
    )  # fmt: skip


def _part_in_eval(value: Mapping[str, Any], homes: Homes) -> PartInEval:
    library = value.get("library")
    return PartInEval(
        optimizer=count_of(value.get("optimizer")), step=count_of(value.get("step")), root=text_of(value.get("root")),
        part=text_of(value.get("part")), part_class=text_of(value.get("part_class")),
        module=text_of(value.get("module")), learning=count_of(value.get("learning")),
        library=library if isinstance(library, bool) else None, evaluating=frames_of(value.get("eval_at"), homes),
        stepped=frames_of(value.get("at"), homes),
    )  # fmt: skip


def _grows(value: Mapping[str, Any], homes: Homes) -> object_marks.ContainerGrows:
    return object_marks.ContainerGrows(
        step=count_of(value.get("step")), path=text_of(value.get("path")), name=text_of(value.get("name")),
        owner=text_of(value.get("owner")), file=text_of(value.get("file")), length=count_of(value.get("length")),
        before=count_of(value.get("before")), steps=count_of(value.get("steps")), sum=value.get("sum") is True,
        entry_bytes=count_of(value.get("bytes")), stepped=frames_of(value.get("at"), homes),
    )  # fmt: skip


def _numbered(value: Mapping[str, Any], homes: Homes) -> object_marks.NumberedNames:
    return object_marks.NumberedNames(
        path=text_of(value.get("path")), name=text_of(value.get("name")), owner=text_of(value.get("owner")),
        length=count_of(value.get("length")), names=count_of(value.get("names")),
        numbers=count_of(value.get("numbers")),
        first=tuple(
            (text_of(one[0]), count_of(one[1]))
            for one in some_of(value.get("first"), MOST_NAMES)
            if isinstance(one, list) and len(one) == 2
        ),
    )  # fmt: skip


def _uneven(value: Mapping[str, Any], homes: Homes) -> object_marks.UnevenPasses:
    return object_marks.UnevenPasses(
        optimizer=count_of(value.get("optimizer")), step=count_of(value.get("step")),
        ratio=real_of(value.get("ratio")) or 0.0, passes=count_of(value.get("passes")),
        least=real_of(value.get("least")) or 0.0, most=real_of(value.get("most")) or 0.0,
        backward=frames_of(value.get("at"), homes),
    )  # fmt: skip


def _generators(value: Mapping[str, Any], homes: Homes) -> object_marks.Generators:
    held = (one for one in some_of(value.get("held"), MOST_GENERATORS) if isinstance(one, Mapping))
    return object_marks.Generators(
        step=count_of(value.get("step")), seed=number_of(value.get("seed")),
        held=tuple(
            object_marks.HeldGenerator(
                path=text_of(one.get("path")), name=text_of(one.get("name")), owner=text_of(one.get("owner")),
                file=text_of(one.get("file")), seed=number_of(one.get("seed")),
                states=tuple(map(count_of, some_of(one.get("states"), MOST_NAMES))),
            )
            for one in held
        ),
    )  # fmt: skip


def _plain(kind: type[Mark], **named: str) -> Callable[[Mapping[str, Any], Homes], Mark]:
    """Returns what reads a mark whose fields have their own names in the line, but for `path` and what is `named`."""
    names = {"path": "at", **named}

    def read(value: Mapping[str, Any], homes: Homes) -> Mark:
        given = {one.name: value.get(names.get(one.name, one.name)) for one in fields(kind)}
        return kind(**{one.name: _READERS[str(one.type)](given[one.name], homes) for one in fields(kind)})

    return read


_READERS: dict[str, Callable[[Any, Homes], Any]] = {
    "int": lambda value, _: count_of(value), "str": lambda value, _: text_of(value),
    "bool": lambda value, _: value is True, "float | None": lambda value, _: real_of(value),
    "float": lambda value, _: real_of(value) or 0.0, "int | None": lambda value, _: number_of(value),
    "tuple[Frame, ...]": frames_of,
    "tuple[str, ...]": lambda value, _: tuple(text_of(one) for one in some_of(value, MOST_NAMES)),
    "tuple[float | None, ...]": lambda value, _: tuple(real_of(one) for one in some_of(value, MOST_NUMBERS)),
}  # fmt: skip
_MAKERS: dict[str, Callable[[Mapping[str, Any], Homes], Mark | Retracted]] = {
    "kept-gradients": _plain(KeptGradients, stepped="at", backward="backward_at"), "eval-mode": _eval_left,
    "evaluated-in-train": _evaluated, "rate-gone": _rate_gone,
    "loss-left-out": _left_out, "bad-losses": _left_out, "origin": _origin, "scaler-skips": _skips,
    "leaf-losses": _plain(LeafLosses), "nothing-loaded": _loaded, "saved": _saved, "read": _read,
    "clipped-scaled": _clipped, "state-not-kept": _not_kept, "graph-cut": _cut, "loss-spread": _spread,
    "schedule-over": _over, "rate-squared": _squared, "part-in-eval": _part_in_eval,
    "lost-passes": _plain(LostPasses, stepped="at", backward="backward_at"), "hooks-grow": _plain(HooksGrow),
    "open-reductions": _plain(OpenReductions, stepped="at", operation="op", waiting="wait_at"),
    "rounded-updates": _plain(RoundedUpdates, stepped="at"), "rate-by-number": _plain(RateByNumber),
    "rates-lost": _plain(object_marks.RatesLost, stepped="at"), "container-grows": _grows, "names": _numbered,
    "uneven-passes": _uneven, "generators": _generators,
    "clipped-late": _plain(loss_marks.ClippedLate, stepped="stepped_at"),
    "loss-squashed": _plain(loss_marks.LossSquashed), "load-overwritten": _plain(loss_marks.LoadOverwritten),
    "nan-steps": _plain(loss_marks.NanSteps), "loss-constant": _plain(loss_marks.LossConstant),
    "foreign-gradients": _plain(loss_marks.ForeignGradients),
    "targets-unreachable": _plain(loss_marks.TargetsUnreachable),
    "frames-unheard": _plain(loss_marks.FramesUnheard),
    "blank-targets": _plain(loss_marks.BlankTargets),
    "targets-outside": _plain(loss_marks.TargetsOutside), "targets-unsigned": _plain(loss_marks.TargetsUnsigned),
    "term-useless": _plain(loss_marks.TermUseless), "state-cut": _plain(loss_marks.StateCut),
    "graph-endless": _plain(loss_marks.GraphEndless), "unfrozen-unheld": _plain(loss_marks.UnfrozenUnheld),
    "dropped-windows": _plain(loss_marks.DroppedWindows, backward="backward_at"),
    "copy-is-stale": _plain(model_marks.CopyIsStale), "weights-untied": _plain(model_marks.WeightsUntied),
    "batch-as-time": _plain(model_marks.BatchAsTime),
    "part-woken": _plain(model_marks.PartWoken), "plateau": _plain(schedule_marks.Plateau),
    "average-rounded": _plain(object_marks.AverageRounded, held="path"),
    "restored-empty": _plain(schedule_marks.RestoredEmpty),
    "schedule-anew": _plain(schedule_marks.ScheduleAnew),
    "schedule-unused": _plain(schedule_marks.ScheduleUnused),
    "empty-pass": _plain(run_marks.EmptyPass),
    "schedule-slow": _plain(schedule_marks.ScheduleSlow), "schedule-paced": _plain(schedule_marks.SchedulePaced),
    "rate-swings": _plain(run_marks.RateSwings),
    "dropout-in-eval": _plain(run_marks.DropoutInEval), "drawn-again": _plain(run_marks.DrawnAgain),
    "saved-untrained": _plain(model_marks.SavedUntrained),
    "statistics-left": _plain(model_marks.StatisticsLeft),
    "statistics-kept": lambda value, _: Retracted(kind=model_marks.StatisticsLeft, model=count_of(value.get("model"))),
    "copy-lacks-statistics": _plain(model_marks.CopyLacksStatistics),
    "something-loaded": lambda value, _: Retracted(kind=NothingLoaded, model=count_of(value.get("model"))),
    "evaluated-after-all": lambda value, _: Retracted(kind=EvaluatedInTrain),
    "copy-follows": lambda value, _: Retracted(kind=model_marks.CopyIsStale, model=count_of(value.get("model"))),
}  # fmt: skip

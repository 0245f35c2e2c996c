"""Reading what was so for many steps in a row from a file that anybody may have written."""

from __future__ import annotations

import json
from typing import Any

from diagnostics.core.frame import Frame
from diagnostics.record.parameter_prints import ParameterPrints, prints_from_text
from diagnostics.record.training_marks import (
    ClippedScaled,
    EvalModeLeft,
    EvaluatedInTrain,
    FirstNotFinite,
    GraphCut,
    KeptGradients,
    LeafLosses,
    LossLeftOut,
    LossSpread,
    NothingLoaded,
    RateGone,
    RateSquared,
    ReadState,
    SavedFile,
    ScalerSkips,
    ScheduleOver,
    StateNotKept,
    TensorRange,
)

AT = [["train.py", 9, "main"]]
PATH = (Frame(file="train.py", line=9, function="main"),)
RANGE = {"shape": "8x6", "finite": False, "bad": 1, "read": 48, "least": -1.5, "most": 2, "rms": 1.0}
READ_RANGE = TensorRange(shape="8x6", read=48, bad=1, least=-1.5, most=2.0, rms=1.0)
LINES: list[dict[str, Any]] = [
    {"what": "kept-gradients", "optimizer": 1, "step": 11, "run": 10, "read": True, "at": AT, "backward_at": []},
    {"what": "eval-mode", "optimizer": 0, "step": 31, "run": 10, "trained": 21, "root": "Net", "module": "1 (Dropout)",
     "eval_at": AT, "at": []},
    {"what": "evaluated-in-train", "root": "Net", "runs": 2, "at": AT, "trained": 9, "optimizers": 1, "norm": "0 (BN)"},
    {"what": "rate-gone", "optimizer": 0, "step": 30, "run": 10, "first": 21, "rate": 0.0, "peak": 0.1, "at": AT,
     "made": [], "scheduler": "LambdaLR", "stepped": 30, "horizon": None},
    {"what": "loss-left-out", "run": 8, "backwards": 3, "step": 2, "name": "loss", "loss": "nan", "at": AT},
    {"what": "bad-losses", "run": 8, "backwards": 9, "step": 2, "loss": "inf", "at": AT, "guard": True},
    {"what": "origin", "modules": 2, "step": 5, "last": None,
     "first": {"module": "1", "class": "Log", "output": [RANGE], "input": [], "weights_finite": False}},
    {"what": "origin", "modules": 2, "step": 5, "first": None,
     "last": {"module": "", "class": "Net", "output": [RANGE]}},
    {"what": "scaler-skips", "optimizer": None, "run": 25, "steps": 3, "at": AT},
    {"what": "leaf-losses", "run": 10, "backwards": 11, "loss": None, "at": AT},
    {"what": "nothing-loaded", "root": "Net", "model": 77, "keys": 2, "given": ["m.a"], "wanted": ["a"], "at": AT,
     "step": 0},
    {"what": "saved", "file": "/job/a.pt", "began": 5, "ns": 9, "empty": True, "step": 4, "counter": 3, "at": AT},
    {"what": "read", "ns": 7, "file": "/job/a.pt", "counter": None, "optimizer": True, "at": AT},
    {"what": "clipped-scaled", "optimizer": 0, "run": 10, "limit": 1, "norm": 8.5, "scale": None, "at": AT},
    {"what": "state-not-kept", "loaded": False, "root": "Net", "file": "a.pt", "since": 3, "step": 9, "taken": AT,
     "at": []},
    {"what": "graph-cut", "run": 10, "step": 20, "parameters": 4, "names": ["a.weight", "a.bias"], "at": AT},
    {"what": "loss-spread", "run": 2, "given": [8, 1], "made": [8, 8], "function": "SubBackward0", "at": AT},
    {"what": "schedule-over", "optimizer": 0, "step": 32, "scheduler": "LinearLR", "stepped": 64, "horizon": 60,
     "made": AT},
    {"what": "rate-squared", "optimizer": 0, "step": 16, "base": 0.01, "peak": 1e-4, "rate": 9e-5, "stepped": 3,
     "made": AT},
]  # fmt: skip
MARKS = (
    KeptGradients(optimizer=1, step=11, run=10, read=True, stepped=PATH, backward=()),
    EvalModeLeft(
        optimizer=0, step=31, run=10, trained=21, root="Net", module="1 (Dropout)", evaluating=PATH, stepped=()
    ),
    EvaluatedInTrain(root="Net", module="0 (BN)", runs=2, trained=9, optimizers=1, path=PATH),
    RateGone(
        optimizer=0, step=30, run=10, first=21, rate=0.0, peak=0.1, scheduler="LambdaLR", stepped=30, horizon=None,
        made=(), path=PATH,
    ),
    LossLeftOut(run=8, step=2, backwards=3, loss=float("nan"), name="loss", path=PATH),
    LossLeftOut(run=8, step=2, backwards=9, loss=float("inf"), name="", path=PATH, guard=True),
    FirstNotFinite(
        step=5, modules=2, module="1", class_name="Log", inputs=(), outputs=(READ_RANGE,), weights_finite=False
    ),
    FirstNotFinite(
        step=5, modules=2, module=None, class_name="Net", inputs=(), outputs=(READ_RANGE,), weights_finite=True
    ),
    ScalerSkips(optimizer=None, run=25, steps=3, path=PATH),
    LeafLosses(run=10, backwards=11, path=PATH),
    NothingLoaded(model=77, root="Net", keys=2, given=("m.a",), wanted=("a",), step=0, path=PATH),
    SavedFile(file="/job/a.pt", began_ns=5, ended_ns=9, empty=True, step=4, path=PATH, counter=3),
    ReadState(file="/job/a.pt", counter=None, optimizer=True, path=PATH, at_ns=7),
    ClippedScaled(optimizer=0, run=10, limit=1.0, norm=8.5, scale=None, path=PATH),
    StateNotKept(loaded=False, root="Net", file="a.pt", since=3, step=9, taken=PATH, path=()),
    GraphCut(run=10, step=20, parameters=4, names=("a.weight", "a.bias"), path=PATH),
    LossSpread(run=2, given=(8, 1), made=(8, 8), path=PATH, function="SubBackward0"),
    ScheduleOver(optimizer=0, step=32, scheduler="LinearLR", stepped=64, horizon=60, made=PATH),
    RateSquared(optimizer=0, step=16, base=0.01, peak=1e-4, rate=9e-5, stepped=3, made=PATH),
)  # fmt: skip


def read(*lines: object) -> ParameterPrints:
    return prints_from_text("\n".join(json.dumps(line) for line in lines))


def test_each_mark_is_read() -> None:
    marks = read(*LINES).marks
    assert [repr(one) for one in marks] == [repr(one) for one in MARKS]  # NaN is not equal to itself


def test_what_a_later_mark_takes_back_is_gone() -> None:
    after = [{"what": "something-loaded", "model": 78}, {"what": "evaluated-after-all"}]
    kinds = [type(one) for one in read(*LINES, *after).marks]
    assert EvaluatedInTrain not in kinds
    assert NothingLoaded in kinds
    assert NothingLoaded not in [type(one) for one in read(*LINES, {"what": "something-loaded", "model": 77}).marks]


def test_no_mark_raises_whatever_stands_in_it() -> None:
    for line in LINES:
        for key in line:
            for value in (None, -1, "x", [[]], {"a": 1}, [{"a": [1]}], 1 << 70, True):
                assert len(read({**line, key: value}).marks) <= 1

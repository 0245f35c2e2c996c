"""Reading samples of parameters from a file that anybody may have written."""

from __future__ import annotations

import json
from typing import Any

import pytest

from diagnostics.core.frame import Frame
from diagnostics.record.parameter_prints import (
    NO_GRADIENT,
    BadLoss,
    Look,
    OptimizedModel,
    ParameterPrints,
    TensorPrint,
    WrapperFacts,
    prints_from_text,
)

MODEL: dict[str, Any] = {
    "what": "model", "optimizer": 0, "class": "SGD", "at": [["train.py", 9, "main"]], "made": [["train.py", 4, "main"]],
    "names": ["a", "b"], "shapes": ["4x3", "scalar"], "wrapper": [1, -1], "sharded": [False, True],
    "in_model": [True, False], "loose": [["c", "2"]], "loose_count": 1, "late": 1, "buffers": [["d", "3"], 5],
    "loaded": False, "learns": [True, False], "group": [0, 1],
}  # fmt: skip
STEP: dict[str, Any] = {
    "what": "step", "optimizer": 0, "step": 2, "values": [[7, 0.5, -1], "sharded"],
    "gradients": [None, [8, "nan", "inf"]], "rates": [0.1, None], "closure": False, "graded": 1, "loss": 2.5,
    "backwards": 3, "world_size": 2, "number": 11, "loose": [[[7, 0.5, -1], None], 3], "buffers": [[8, 0.5, -1]],
    "wrappers": [{"class": "Net", "at": [["train.py", 3, "main"]], "ranks": [0, 1], "iterations": 1,
                  "ran": True, "synchronised": False, "inner_called": True, "inner_at": [], "ignored": 0, "hooks": 0}],
}  # fmt: skip
BAD: dict[str, Any] = {"what": "bad-loss", "loss": "inf", "backward": 8, "steps": 7, "at": [["train.py", 8, "main"]]}


def text(*lines: object) -> str:
    return "\n".join(json.dumps(line) for line in lines)


def frame(line: int) -> tuple[Frame, ...]:
    return (Frame(file="train.py", line=line, function="main"),)


def test_all_that_is_written_is_read() -> None:
    model = OptimizedModel(
        optimizer=0, class_name="SGD", stepped=frame(9), made=frame(4), names=("a", "b"), shapes=("4x3", "scalar"),
        wrapper=(1, -1), sharded=(False, True), in_model=(True, False), loose=(("c", "2"),), loose_count=1,
        buffers=(("d", "3"),),
        late=1, loaded=False, learns=(True, False), group=(0, 1),
    )  # fmt: skip
    wrapper = WrapperFacts(
        class_name="Net", made=frame(3), ranks=(0, 1), iterations=1, ran=True, synchronised=False, inner_called=True,
        inner_call=(), ignored=0, hooks=0,
    )  # fmt: skip
    read = prints_from_text(text(MODEL, STEP, BAD) + '\n{"what": "st')
    (look,) = read.looks
    number = look.gradients[1]
    assert (number.size != number.size, number.first, number.is_finite) == (True, float("inf"), False)
    assert read == ParameterPrints(
        looks=(
            Look(
                model=model, step=2, values=(TensorPrint(checksum=7, size=0.5, first=-1.0), TensorPrint(why="sharded")),
                gradients=(NO_GRADIENT, number), rates=(0.1, None), graded=1, closure=False, loss=2.5, backwards=3,
                world_size=2, number=11, wrappers=(wrapper,),
                loose=((TensorPrint(checksum=7, size=0.5, first=-1.0), NO_GRADIENT),),
                buffers=(TensorPrint(checksum=8, size=0.5, first=-1.0),),
            ),
        ),
        bad_losses=(BadLoss(loss=float("inf"), backward=8, steps=7, path=frame(8)),),
    )  # fmt: skip


HOSTILE = (
    *({**MODEL, key: value} for key in MODEL for value in (None, -1, "x", [[]], {"a": 1}, 1e400, 1 << 70)),
    *({**STEP, key: value} for key in STEP for value in (None, -1, "x", [[]], {"a": 1}, [[1, 2]], 1 << 70)),
    *({**BAD, key: value} for key in BAD for value in (None, -1, "x", [[]], [["a", "b", "c"]])),
    {**MODEL, "names": ["n"] * 100_000},
    {**STEP, "wrappers": [{}] * 1000},
    [], 7, "step", None,
)  # fmt: skip


def test_no_line_raises_and_each_tensor_of_a_look_has_its_place() -> None:
    for line in HOSTILE:
        read = prints_from_text(text(MODEL, line, STEP, BAD))
        for look in read.looks:
            names = len(look.model.names)
            lengths = {len(look.values), len(look.gradients), len(look.model.shapes), len(look.model.wrapper)}
            assert lengths == {names}
            assert names <= 400
            assert len(look.wrappers) <= 8


@pytest.mark.parametrize("line", ['{"what": "step"}', "", "\0\0", "[" * 9999, json.dumps(STEP)])
def test_a_look_without_its_model_is_left_out(line: str) -> None:
    assert prints_from_text(line) == ParameterPrints()

"""A group of parameters that is called and never has a gradient is told with the line that cuts it off."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hand_made import a_job, a_process, agent, event, frames

from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.signature import Match
from diagnostics.diagnosis.updates import group_without_gradients
from diagnostics.record.agent_data import ModuleEntry, ModuleName
from diagnostics.record.parameter_prints import NO_GRADIENT, Look, OptimizedModel, ParameterPrints, TensorPrint

TRAIN = """\
def features(net, x):
    with torch.no_grad():
        return net.encoder(x)
@torch.no_grad()
def evaluate(net, x):
    return net(x)
"""
NAMES = ("encoder.a.weight", "encoder.b.weight", "head.weight")
MODEL = OptimizedModel(
    optimizer=0, class_name="AdamW", stepped=(), made=(), names=NAMES, shapes=("2x2",) * 3, wrapper=(1,) * 3,
    sharded=(False,) * 3, in_model=(True,) * 3, learns=(True,) * 3, group=(0, 0, 1),
)  # fmt: skip
VALUE = TensorPrint(checksum=7, size=0.5, first=0.5)
UNREACHED, REACHED = (NO_GRADIENT, NO_GRADIENT, VALUE), (NO_GRADIENT, VALUE, VALUE)
STEPS = (1, 2, 25, 80)


def look(step: int, model: OptimizedModel, gradients: tuple[TensorPrint, ...], rate: float) -> Look:
    return Look(
        model=model, step=step, values=(VALUE,) * 3, gradients=gradients, rates=(rate, 0.1), graded=1, closure=False,
        loss=1.0, backwards=step, world_size=2, number=None, wrappers=(),
    )  # fmt: skip


def matched(
    folder: Path, *, called: tuple[str, ...] = ("encoder.a", "encoder.b", "head"), last: Any = UNREACHED,
    rate: float = 0.01, steps: tuple[int, ...] = STEPS, **model: Any
) -> Match | None:  # fmt: skip
    entered = tuple(
        ModuleEntry(sequence=at, module=ModuleName(path=path, class_name="Linear", root_class="Net"), backward=False)
        for at, path in enumerate(called)
    )
    made = replace(MODEL, **{"made": frames(f"{folder}/train.py:6"), **model})
    looks = tuple(look(step, made, last if step == steps[-1] else UNREACHED, rate) for step in steps)
    told = agent(event("optimizer", "", f"{folder}/train.py:6"), steps=80, entered=entered)
    process = a_process(100, rank=0, agent=told, prints=ParameterPrints(looks=looks))
    return group_without_gradients.match(a_job(process, code=0, cwd=folder, files={"train.py": TRAIN}))


def test_the_line_that_cuts_the_group_off_is_named(tmp_path: Path) -> None:
    found = matched(tmp_path)
    assert found is not None
    assert (found.failure_class, found.finding.confidence) == ("gradients-lost", Confidence.LIKELY)
    assert found.locations == ("train.py:2", "train.py:6")
    assert found.finding.title == (
        "encoder.a.weight and 1 more parameters of group 0 are to learn with a rate of 0.01, take part in the forward "
        "pass and never have a gradient: train.py:2 cuts them off"
    )


HEALTHY: dict[str, dict[str, Any]] = {
    "it is reached in the end": {"last": REACHED},
    "it is not called": {"called": ("head",)},
    "it is frozen": {"learns": (False, False, True)},
    "it has no rate": {"rate": 0.0},
    "its group holds what is reached": {"group": (0, 0, 0)},
    "the run is short": {"steps": (1, 2, 10)},
    "nobody calls the model": {"in_model": (False, False, True)},
}


@pytest.mark.parametrize("how", HEALTHY)
def test_a_group_that_may_be_without_is_not(how: str, tmp_path: Path) -> None:
    assert matched(tmp_path, **HEALTHY[how]) is None

"""Dropout in evaluation: the calls are named, and one that is meant to draw, by the names around it, is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from hand_made import a_job, a_process, agent, frames

from diagnostics.core.frame import Frame
from diagnostics.diagnosis.randomness import dropout_in_evaluation
from diagnostics.dynamic.job.job import Job
from diagnostics.record.marks.run_marks import DropoutInEval
from diagnostics.record.parameter_prints import ParameterPrints

LINES = "x = F.dropout(x, p=self.p)\ny = F.dropout(y)\nz = F.dropout(z)  # always on\n"


def a_run(folder: Path, *lines: int, module: str = "AFM", caller: str = "test", function: str = "dropout") -> Job:
    marks = tuple(
        DropoutInEval(
            function=function, module=module, run=8, step=94, path=(
                *frames(f"{folder}/layers.py:{line}"), Frame(file=f"{folder}/main.py", line=9, function=caller),
            ),
        )
        for line in lines
    )  # fmt: skip
    process = a_process(rank=0, agent=agent(steps=94), prints=ParameterPrints(marks=marks))
    return a_job(process, code=0, cwd=folder, files={"layers.py": LINES, "main.py": "\n" * 9})


def test_each_call_is_named(tmp_path: Path) -> None:
    found = dropout_in_evaluation.match(a_run(tmp_path, 1, 2))
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.locations) == (
        "wrong-mode", (0,), ("layers.py:1", "layers.py:2"),
    )  # fmt: skip
    assert found.finding.title == (
        "AFM drops in eval mode: F.dropout at layers.py:1 is called without training=, which is True by default"
    )


def test_attention_is_told_to_drop_in_training_only(tmp_path: Path) -> None:
    found = dropout_in_evaluation.match(a_run(tmp_path, 1, function="scaled_dot_product_attention"))
    assert found is not None
    assert found.finding.fix is not None
    assert found.finding.fix.text == "pass dropout_p=self.p if self.training else 0.0"


@pytest.mark.parametrize(
    ("line", "module", "caller"),
    [(3, "AFM", "test"), (1, "BayesianHead", "test"), (1, "AFM", "mc_predict"), (1, "AFM", "posterior_samples")],
)
def test_a_model_that_is_to_draw_is_left_alone(line: int, module: str, caller: str, tmp_path: Path) -> None:
    assert dropout_in_evaluation.match(a_run(tmp_path, line, module=module, caller=caller)) is None

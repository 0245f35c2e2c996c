"""Which line decided how long a schedule is: the factory's own, or where it is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnostics.dynamic.model.given_lengths import length_given_at
from tests.hand_made import a_job, a_process, frames

PROGRAM = """\
def cosine(optimizer, warmup, total, config=None, *, floor=0.0):
    def factor(step):
        return max(floor, 1 - step / {inner})
    return {made}
def build(optimizer, config):
    return cosine(optimizer, 10, config.steps)
"""


@pytest.mark.parametrize(
    ("made", "inner", "line"),
    [
        ("LambdaLR(optimizer, factor)", "total", 6),
        ("LambdaLR(optimizer, lr_lambda=factor)", "total", 6),
        ("CosineAnnealingLR(optimizer, total - warmup)", "1", 6),
        ("CosineAnnealingLR(optimizer, T_max=total, eta_min=floor)", "1", 6),
        ("CosineAnnealingLR(optimizer, config.steps)", "1", 4),
        ("CosineAnnealingLR(optimizer, 1000, eta_min=floor)", "1", 4),
        ("LambdaLR(optimizer, factor)", "1000", 4),
    ],
)
def test_a_factory_that_is_told_the_length_is_decided_by_its_caller(
    tmp_path: Path, made: str, inner: str, line: int
) -> None:
    job = a_job(a_process(), cwd=tmp_path, files={"train.py": PROGRAM.format(made=made, inner=inner)})
    path = frames(str(tmp_path / "train.py:4"), str(tmp_path / "train.py:6"))

    assert length_given_at(job, path)[0].line == line


def test_a_file_that_is_not_there_decides_itself(tmp_path: Path) -> None:
    path = frames(str(tmp_path / "gone.py:4"), str(tmp_path / "gone.py:6"))

    assert length_given_at(a_job(a_process(), cwd=tmp_path), path) == path

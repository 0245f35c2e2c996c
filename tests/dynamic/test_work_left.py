"""Whether a program that waits has training left below its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hand_made import a_job, frame

from diagnostics.dynamic.stall.remaining_work import has_work_left

TRAIN = "def train(n):\n    for one in range(n):\n        optimizer.step()\n\n\ndef rounds():\n    train(8)\n\n\n"
LEFT = ["train(8)", "rounds()", "loss.backward()", "trainer.fit(net)", "for epoch in range(3):\n    train(8)"]
DONE = ["", "print('saved')", "def later():\n    train(8)", "run.finish()"]


@pytest.mark.parametrize(("rest", "left"), [*((one, True) for one in LEFT), *((one, False) for one in DONE)])
def test_only_calls_below_the_line_count(tmp_path: Path, rest: str, left: bool) -> None:
    text = f"{TRAIN}train(8)\nqueue.get()\n{rest}\n"
    one = a_job(cwd=tmp_path, files={"train.py": text})
    line = text.splitlines().index("queue.get()") + 1
    assert has_work_left(one, [frame(f"{tmp_path}/train.py:{line}", "<module>")]) is left


def test_in_a_function_its_callers_lines_count_too(tmp_path: Path) -> None:
    text = f"{TRAIN}def wait():\n    queue.get()\n\n\nwait()\ntrain(8)\n"
    one = a_job(cwd=tmp_path, files={"train.py": text})
    path = [frame(f"{tmp_path}/train.py:11", "wait"), frame(f"{tmp_path}/train.py:14", "<module>")]
    assert has_work_left(one, path)
    assert not has_work_left(one, path[:1])


def test_without_the_source_nothing_is_known(tmp_path: Path) -> None:
    assert not has_work_left(a_job(cwd=tmp_path), [frame(f"{tmp_path}/train.py:1")])

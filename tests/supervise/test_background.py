"""What trains on after the command has ended is watched to its own end; other leftovers are ended."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from jobs import facts, report, run

TRAIN = """
import sys, time
import torch
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(8):
    optimizer.zero_grad()
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    time.sleep(0.1)
open("done", "w").close()
if len(sys.argv) > 1:
    raise KeyError("lr")
"""


@pytest.mark.parametrize(("words", "code"), [("", 0), ("fail", 70)])
def test_a_training_in_the_background_is_watched_to_its_end(tmp_path: Path, words: str, code: int) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    ended = run(tmp_path, "bash", "-c", f"nohup {sys.executable} train.py {words} > log 2>&1 &")
    assert b"CMD has ended, 1 training process goes on; watching it" in ended.stderr
    assert (tmp_path / "done").exists()
    assert ended.returncode == code
    assert facts(tmp_path)["sent"] == []
    told = report(tmp_path)
    assert (told["outcome"], told["location"]) == (("crash", "train.py:13") if words else ("ok", None))


def test_another_leftover_is_ended_as_before(tmp_path: Path) -> None:
    (tmp_path / "monitor.py").write_text("import time\ntime.sleep(60)\n")
    began = time.monotonic()
    ended = run(tmp_path, "bash", "-c", f"{sys.executable} monitor.py > log 2>&1 &")
    assert (ended.returncode, b"CMD has ended" in ended.stderr) == (0, False)
    assert time.monotonic() - began < 30
    assert [one["why"] for one in facts(tmp_path)["sent"]] == ["leftover"]

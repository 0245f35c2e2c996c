"""A rank that fails is told before its job ends: launchers give the others half a minute to leave."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from jobs import start

LAUNCHER = """\
import os, subprocess, sys
ranks = [
    subprocess.Popen([sys.executable, "train.py"], env={**os.environ, "RANK": str(rank), "WORLD_SIZE": "3"})
    for rank in range(3)
]
sys.exit(max(rank.wait() for rank in ranks))
"""
TRAIN = """\
import os, sys, time

def wait_for(name):
    while not os.path.exists(name):
        time.sleep(0.02)

if os.environ["RANK"] == "1":
    open("left", "w").close()
    sys.exit(3)
wait_for("left")
while str(os.getpid()) not in open("report/record/job.json").read():  # until the rank was noticed
    time.sleep(0.02)
if os.environ["RANK"] == "2":
    raise KeyError("shard-7")
wait_for("told")
"""


def test_a_rank_that_raised_is_told_while_the_others_live_on_and_one_that_only_left_is_not(tmp_path: Path) -> None:
    (tmp_path / "launch.py").write_text(LAUNCHER)
    (tmp_path / "train.py").write_text(TRAIN)
    with start(tmp_path, sys.executable, "launch.py", stderr=subprocess.PIPE, text=True) as job:
        assert job.stderr is not None
        said = next(line for line in job.stderr if line.startswith("ups-doctor: "))
        (tmp_path / "told").touch()
        rest = job.stderr.read()
    assert said == (
        "ups-doctor: rank 2 ended with exit code 1 at train.py:14: KeyError: 'shard-7' (the job has not ended yet)\n"
    )
    assert "has not ended yet" not in rest
    assert "ups-doctor: The job crashed: python-exception on rank 2 at train.py:14." in rest

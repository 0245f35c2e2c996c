"""Ranks that were seen from outside only: the line of the script that took the agent away."""

from __future__ import annotations

from pathlib import Path

import pytest
from hand_made import a_job, a_process, agent

from diagnostics.diagnosis.unseen_ranks import unseen_note
from diagnostics.dynamic.job.job import ProcessRole


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (
            "export PYTHONPATH=$here/lib\npython train.py\n",
            "run.sh:1 sets PYTHONPATH anew: write PYTHONPATH=...:$PYTHONPATH there",
        ),
        (
            "cd .\nPYTHONPATH=. torchrun train.py\n",
            "run.sh:2 sets PYTHONPATH anew: write PYTHONPATH=...:$PYTHONPATH there",
        ),
        (
            "env -i PATH=$PATH python train.py\n",
            "run.sh:1 empties the environment: let PYTHONPATH and UPS_DOCTOR_* through",
        ),
        ("export PYTHONPATH=$PWD:$PYTHONPATH\npython train.py\n", ""),
        ('export PYTHONPATH="${PYTHONPATH}:src"\npython train.py\n', ""),
        ("export MYPYTHONPATH=src\npython train.py\n", ""),
    ],
)
def test_the_line_that_took_the_agent_away_is_named(script: str, said: str, tmp_path: Path) -> None:
    shell = a_process(1, part=ProcessRole.SHELL, rank=None, argv=("bash", "run.sh"), cwd=str(tmp_path), parent_pid=0)
    ranks = [a_process(2 + rank, rank=rank) for rank in range(2)]
    facts = {"command": ("bash", "run.sh")}
    found = unseen_note(a_job(shell, *ranks, cwd=tmp_path, files={"run.sh": script}, facts=facts))
    assert found == (f"{said}; the doctor saw ranks 0, 1 from outside only" if said else "")
    watched = [a_process(2 + rank, rank=rank, agent=agent(pid=2 + rank)) for rank in range(2)]
    assert unseen_note(a_job(shell, *watched, cwd=tmp_path, files={"run.sh": script}, facts=facts)) == ""

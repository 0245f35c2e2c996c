"""What is known of the cause of a failure that something hid, on matches put together by hand, and in a real job."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hand_made import a_job, a_match, a_process

from diagnostics.core.findings import Confidence, Fix, Role
from diagnostics.diagnosis.masked_cause import as_it_failed, with_its_cause

MASKED = replace(
    a_match("D402", "masked-exit", explains=(100, 101)),
    locations=("train.py:5", "run.sh:3"),
    hidden_by="the script hid it at run.sh:3: the job says 0",
    unhide="begin the script with `set -e`",
)
PORT = a_match("D104", "master-unreachable", ranks=(1,), explains=(101,))
PORT = replace(
    PORT, locations=("run.sh:2", "train.py:5"), finding=replace(PORT.finding, fix=Fix(text="give both one port"))
)
START = """
export MASTER_ADDR=127.0.0.1 WORLD_SIZE=1 RANK=0
python train.py &
wait
echo done
"""
TRAIN = """
import torch

torch.save(torch.nn.Linear(8, 2).state_dict(), "last.pt")
model = torch.nn.Linear(4, 2)
model.load_state_dict(torch.load("last.pt"))
"""


def test_the_cause_gives_culprit_line_and_fix_and_the_lie_its_class() -> None:
    told = with_its_cause(MASKED, [a_match("D201", generic=True), PORT])
    assert (told.failure_class, told.culprit_ranks, told.locations) == (
        "masked-exit", (1,), ("run.sh:2", "train.py:5", "run.sh:3"),
    )  # fmt: skip
    assert told.finding.title == f"{PORT.finding.title.rstrip('.')}, and the script hid it at run.sh:3: the job says 0"
    assert told.finding.fix == Fix(text="give both one port; begin the script with `set -e`")


def test_what_is_only_possible_generic_a_consequence_or_about_others_is_no_cause() -> None:
    others = [
        replace(PORT, generic=True),
        replace(PORT, explains=(7,)),
        replace(PORT, finding=replace(PORT.finding, role=Role.CASCADE)),
        replace(PORT, finding=replace(PORT.finding, confidence=Confidence.POSSIBLE)),
    ]
    assert with_its_cause(MASKED, others) is MASKED


def test_a_lie_is_as_sure_as_its_cause() -> None:
    likely = replace(PORT, finding=replace(PORT.finding, confidence=Confidence.LIKELY))
    assert with_its_cause(MASKED, [likely]).finding.confidence is Confidence.LIKELY


def test_the_job_is_looked_at_with_the_code_that_was_hidden() -> None:
    job = a_job(a_process(100, code=3), code=0)
    assert (job.failed, as_it_failed(job, MASKED).failed, as_it_failed(job, MASKED).facts.exit_code) == (False, True, 3)


def test_a_checkpoint_that_does_not_fit_is_told_behind_a_script_that_hides_it(watched: Callable[..., Any]) -> None:
    done = watched("bash", "start.sh", start_sh=START, train_py=TRAIN)
    assert done.verdict == ("crash", "masked-exit", [0], "train.py:6")
    assert done.code == 70
    assert done.report["root_cause"].startswith("Rank 0 could not load a checkpoint: weight has ([2, 8]) in the file")
    assert done.report["root_cause"].endswith("and the script hid it at start.sh:4: the job says 0")

"""An optimizer that was given nothing: told where it was loaded and what the state was made of."""

from __future__ import annotations

from pathlib import Path

from hand_made import a_job, a_process, agent, frames

from diagnostics.diagnosis.schedules import optimizer_restored_empty
from diagnostics.dynamic.job.job import Job
from diagnostics.record.marks.schedule_marks import RestoredEmpty
from diagnostics.record.parameter_prints import ParameterPrints

TEXT = """\
state = {"optimizer": optimizer.state_dict()}
dcp.load(state, checkpoint_id=path)
optimizer.load_state_dict(state["optimizer"])
"""


def a_run(folder: Path, *, told: bool = True, place: str = "train.py:3") -> Job:
    path = frames(f"{folder}/{place}") if place else ()
    mark = RestoredEmpty(
        optimizer=0, optimizer_class="AdamW", scheduler="CosineAnnealingLR", count=128, step=2, path=path
    )
    ranks = (
        a_process(
            100 + rank, rank=rank, agent=agent(pid=100 + rank, steps=96), argv=("python", f"{folder}/train.py"),
            prints=ParameterPrints(marks=(mark,) if told else ()), cwd=str(folder),
        )
        for rank in range(2)
    )  # fmt: skip
    return a_job(*ranks, code=0, cwd=folder, files={"train.py": TEXT})


def test_the_load_and_the_empty_template_are_named_for_all_ranks(tmp_path: Path) -> None:
    found = optimizer_restored_empty.match(a_run(tmp_path))
    assert found is not None
    assert (found.failure_class, found.culprit_ranks) == ("checkpoint-not-loaded", (0, 1))
    assert found.locations == ("train.py:3", "train.py:1")
    assert "into AdamW holds nothing, and its CosineAnnealingLR goes on at step 128" in found.finding.title


def test_a_load_of_nobodys_line_is_told_without_one(tmp_path: Path) -> None:
    found = optimizer_restored_empty.match(a_run(tmp_path, place=""))
    assert found is not None
    assert found.finding.title.startswith("The state that was loaded into AdamW holds nothing")


def test_ranks_that_restored_all_of_it_are_left_alone(tmp_path: Path) -> None:
    assert optimizer_restored_empty.match(a_run(tmp_path, told=False)) is None

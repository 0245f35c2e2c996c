"""Statistics that are in no file: told with the lines that freeze and wake, unless another writer may have them."""

from __future__ import annotations

from pathlib import Path

from hand_made import a_job, a_process, agent, frames

from diagnostics.diagnosis.kept_models import statistics_left_out
from diagnostics.dynamic.job.job import Job
from diagnostics.record.marks.model_marks import StatisticsLeft
from diagnostics.record.parameter_prints import ParameterPrints

TEXT = """\
model.body.requires_grad_(False)
model.train()
torch.save(head, "head.pt")
"""


def a_run(folder: Path, *, frozen: bool = True, parts: int = 3, text: str = TEXT, place: str = "train.py:3") -> Job:
    mark = StatisticsLeft(
        model=0, root="Net", file="/out/head.pt", parts=parts, part="body.1", batches=40, frozen=frozen, learning=2,
        step=40, path=frames(f"{folder}/{place}") if place else (),
    )  # fmt: skip
    prints, argv = ParameterPrints(marks=(mark,)), ("python", f"{folder}/train.py")
    process = a_process(agent=agent(steps=40), prints=prints, argv=argv, cwd=str(folder))
    return a_job(process, code=0, cwd=folder, files={"train.py": text})


def test_a_frozen_part_is_told_where_it_is_frozen_and_woken(tmp_path: Path) -> None:
    found = statistics_left_out.match(a_run(tmp_path))
    assert found is not None
    assert (found.failure_class, found.module) == ("wrong-mode", "body.1")
    assert found.locations == ("train.py:1", "train.py:2", "train.py:3")
    assert "body.1 and 2 more, of a part that is frozen" in found.finding.title


def test_norms_that_learn_are_told_where_the_file_is_saved(tmp_path: Path) -> None:
    found = statistics_left_out.match(a_run(tmp_path, frozen=False, parts=1))
    assert found is not None
    assert (found.failure_class, found.locations) == ("state-not-kept", ("train.py:3",))


def test_a_save_of_nobodys_line_is_told_without_one(tmp_path: Path) -> None:
    found = statistics_left_out.match(a_run(tmp_path, place=""))
    assert found is not None
    assert found.finding.title.startswith("head.pt is saved with what learnt of Net")


def test_a_program_that_also_writes_by_another_library_is_left_alone(tmp_path: Path) -> None:
    assert statistics_left_out.match(a_run(tmp_path, text=TEXT + "model.save_pretrained(out)\n")) is None

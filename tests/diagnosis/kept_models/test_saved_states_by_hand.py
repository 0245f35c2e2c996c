"""States that no optimizer ever held a part of: the optimizer's line comes first, then that of the save."""

from __future__ import annotations

from pathlib import Path

from hand_made import a_job, a_process, agent, frames

from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.kept_models import saved_state_untrained
from diagnostics.dynamic.job.job import Job
from diagnostics.record.marks.model_marks import SavedUntrained
from diagnostics.record.parameter_prints import ParameterPrints


def a_run(folder: Path, *names: str, made: str = "train.py:2", tensors: int = 12) -> Job:
    mark = SavedUntrained(
        file="/data/runs/adapter.pt", names=names, tensors=tensors, learning=1, step=446,
        path=frames(f"{folder}/train.py:5"), made=frames(f"{folder}/{made}") if made else (),
    )  # fmt: skip
    process = a_process(100, rank=0, agent=agent(pid=100, steps=446), prints=ParameterPrints(marks=(mark,)))
    return a_job(process, code=0, cwd=folder, files={"train.py": "optimizer = AdamW(parameters)\n" * 6})


def test_the_optimizer_and_the_save_are_named(tmp_path: Path) -> None:
    found = saved_state_untrained.match(a_run(tmp_path, "a.lora_A", "a.lora_B", "b.lora_A"))
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.locations, found.finding.confidence) == (
        "zero-progress", (0,), ("train.py:2", "train.py:5"), Confidence.LIKELY,
    )  # fmt: skip
    assert found.finding.title == (
        "adapter.pt is saved at train.py:5 with 12 tensors of a model that is trained, and no optimizer ever held one "
        "of them: a.lora_A, a.lora_B, b.lora_A, ..."
    )


def test_few_names_are_all_told_and_an_optimizer_of_nobodys_line_is_left_out(tmp_path: Path) -> None:
    found = saved_state_untrained.match(a_run(tmp_path, "head.weight", "head.bias", made="", tensors=2))
    assert found is not None
    assert found.locations == ("train.py:5",)
    assert found.finding.title.endswith("one of them: head.weight, head.bias")


def test_a_run_without_such_a_save_is_not_told(tmp_path: Path) -> None:
    assert saved_state_untrained.match(a_job(a_process(100, rank=0), code=0, cwd=tmp_path)) is None

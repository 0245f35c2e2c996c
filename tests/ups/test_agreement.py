"""A step that one rank cannot make: all ranks do the same about it, by the reduction that they make anyway."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from small_run import launch, ups, write_config, write_data

from ups.agreement import Failure, Trouble, failure_of
from ups.drills import Drill, drill_of
from ups.errors import ConfigError, DataError

PROGRAM = Path(__file__).with_name("agreement_rank.py")


@pytest.mark.parametrize(
    ("strategy", "how"),
    [
        ("ddp", "eager"),
        ("fsdp2", "eager"),
        ("hsdp", "eager"),
        ("ddp", "compiled"),
        ("fsdp2", "compiled"),
    ],
)
def test_all_ranks_do_the_same_whatever_one_of_them_meets(tmp_path: Path, strategy: str, how: str) -> None:
    file = tmp_path / "found.json"
    ended = launch(PROGRAM, file, strategy, how, nproc=4 if strategy == "hsdp" else 2)
    assert {one.exit_code for one in ended.ended} == {0}

    def taken(*notes: list[object]) -> dict[str, object]:
        return {"taken": True, "notes": list(notes), "alike": True, "goes on": True}

    left_out = {"taken": False, "notes": [["skip", 1]], "alike": True, "goes on": True}
    assert json.loads(file.read_text()) == {
        "forward": taken(["retry", 2]),
        "forward of pieces": taken(["retry", 8]),
        "backward": taken(["retry", 2]),
        "backward of pieces": taken(["retry", 8]),
        "a loss that is not finite": left_out,
        "a batch": left_out,
        "until one sample is left": {**left_out, "notes": [["retry", 2], ["retry", 4], ["retry", 8], ["skip", 1]]},
        "nothing": taken(),
        "stopped": "rank 1 ran out of memory inside the optimizer's step (x) here: all ranks stop, and the last "
        "checkpoint is good",
    }


def test_a_run_whose_rank_runs_out_of_memory_trains_the_same_weights(tmp_path: Path) -> None:
    write_data(tmp_path)
    found = []
    for name, drill in (("plain", ""), ("short", "memory rank=1 step=2 phase=backward stage=operator")):
        config = write_config(tmp_path, output={"dir": str(tmp_path / name)})
        done = ups("train", config, "--no-preflight", "--nproc", "2", environ={"UPS_DRILL": drill})
        assert done.returncode == 0, done.stderr
        found.append(torch.load(tmp_path / name / "checkpoints/best.pt", weights_only=True)["operator"])
        said = "all ranks take the batch again in 2 pieces" in done.stderr
        assert said is bool(drill)
    assert all(torch.allclose(found[0][key], found[1][key], atol=1e-5) for key in found[0])


@pytest.mark.parametrize(
    ("error", "wanted"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried 2 GiB\nmore"), "CUDA out of memory. Tried 2 GiB"),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried 9 bytes"), ""),
        (MemoryError(), ""),
    ],
)
def test_memory_that_is_not_there_is_agreed_on(error: Exception, wanted: str) -> None:
    found = failure_of(error)
    assert found is not None
    assert found.trouble is Trouble.MEMORY
    assert found.text == (wanted or str(error))


def test_a_fault_of_the_program_ends_its_rank() -> None:
    assert [failure_of(one) for one in (RuntimeError("shapes differ"), ValueError("x"), KeyError("y"))] == [None] * 3
    assert failure_of(DataError("no such sample")) == Failure(Trouble.BATCH, "no such sample")
    lost = RuntimeError("DataLoader worker (pid(s) 7) exited unexpectedly")
    assert failure_of(lost) == Failure(Trouble.WORKER, "DataLoader worker (pid(s) 7) exited unexpectedly")


def test_a_drill_is_for_one_rank_and_stage_and_a_wrong_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UPS_DRILL", "memory rank=1 step=3 phase=backward stage=operator")
    assert drill_of(1, "operator") == Drill("memory", 1, 3, "backward", "operator")
    assert (drill_of(0, "operator"), drill_of(1, "autoencoder")) == (None, None)
    for wrong in ("fire rank=1", "memory phase=lunch", "memory rank=one"):
        monkeypatch.setenv("UPS_DRILL", wrong)
        with pytest.raises(ConfigError, match="one of memory, nan, batch is needed"):
            drill_of(0, "operator")

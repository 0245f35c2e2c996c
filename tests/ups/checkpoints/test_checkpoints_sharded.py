"""Checkpoints in folders: whole or not there, damage is told and the one before taken, a full disk loses nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from small_run import (
    PROGRAM,
    clean_environment,
    newest,
    ups,
    write_config,
    write_data,
)
from torch import nn

from ups.checkpointing import layout, shards, state
from ups.checkpointing.newest import newest as newest_good
from ups.checkpointing.pruning import Kept, to_remove
from ups.checkpointing.saver import Saved, Saver
from ups.checkpointing.state import restore, tensors_of
from ups.config import CheckpointConfig
from ups.distributed import alone, random_state
from ups.ema import Ema
from ups.errors import AgreedError, DataError
from ups.run_folder import RunFolder


class Notes:
    """Keeps what is said."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        self.lines.append(text)

    def note(self, text: str, kind: str, stage: str, step: int, **values: float) -> None:
        self.lines.append(text)


def saver(folder: Path, **settings: Any) -> tuple[Saver, Saved, Notes]:
    saved, notes = Saved(), Notes()
    return Saver(alone(), folder, CheckpointConfig(**settings), notes, saved), saved, notes


def facts(step: int, epoch: int = 0, validation: float | None = None) -> dict[str, Any]:
    position = {"epoch": epoch, "batch": step, "step": step}
    return {"stage": "operator", "position": position, "validation": validation, "time": 1e9 + step, "world_size": 1}


def write(folder: Path, *steps: int, **settings: Any) -> tuple[Saved, Notes]:
    one, saved, notes = saver(folder, **settings)
    for step in steps:
        one.save({"model/w": torch.full((3,), float(step))}, {"meters": []}, facts(step), last=True)
    return saved, notes


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def trained(steps: int) -> tuple[nn.Module, nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(steps)
    module, average = nn.Linear(4, 2), nn.Linear(4, 2)
    optimizer = torch.optim.AdamW(module.parameters(), lr=0.1)
    for _ in range(steps):
        module(torch.ones(4)).sum().backward()
        optimizer.step()
    return module, average, optimizer


def test_model_average_and_optimizer_come_back_bit_by_bit(tmp_path: Path) -> None:
    before, after = trained(3), trained(0)
    saver(tmp_path)[0].save(tensors_of(*before), {}, facts(3), last=True)
    restore(next(iter(layout.whole(tmp_path))), *after)
    one, other = tensors_of(*before), tensors_of(*after)
    assert one.keys() == other.keys()
    assert {name for name in one if name.startswith("optimizer/bias")} == {
        "optimizer/bias/step", "optimizer/bias/exp_avg", "optimizer/bias/exp_avg_sq",
    }  # fmt: skip
    assert all(torch.equal(one[name], other[name]) and one[name].dtype == other[name].dtype for name in one)


def test_a_checkpoint_of_another_model_is_refused_by_name(tmp_path: Path) -> None:
    saver(tmp_path)[0].save(tensors_of(*trained(1)), {}, facts(1), last=True)
    other = nn.Linear(5, 2)
    with pytest.raises(DataError, match=r"is of another model: model/weight does not fit"):
        restore(layout.whole(tmp_path)[0], other, nn.Linear(5, 2), torch.optim.AdamW(other.parameters()))


def test_what_training_changes_while_it_is_written_does_not_get_into_it(tmp_path: Path) -> None:
    weight, (one, _, _) = torch.ones(200_000), saver(tmp_path)
    one.save({"model/w": weight}, {}, facts(1), last=False)
    weight.fill_(7)
    one.finish()
    read = {"model/w": torch.zeros(200_000)}
    shards.read_into(read, tmp_path / "operator-0000-00000001")
    assert torch.equal(read["model/w"], torch.ones(200_000))


def test_while_a_disk_does_not_answer_training_goes_on_without_checkpoints_and_says_so_once(tmp_path: Path) -> None:
    os.mkfifo(slow := tmp_path / "best.pt.tmp")  # opening it waits until somebody reads
    one, saved, notes = saver(tmp_path, on_failure="continue")
    one.put(tmp_path / "best.pt", {"kind": "best"})
    for step in (1, 2, 3):
        one.save({"model/w": torch.ones(1)}, {}, facts(step), last=False)
    reader = os.open(slow, os.O_RDONLY | os.O_NONBLOCK)
    one.save({"model/w": torch.ones(1)}, {}, facts(4), last=True)
    os.close(reader)
    assert (layout.whole(tmp_path), saved.left_out) == (
        [tmp_path / f"operator-0000-0000000{step}" for step in (4, 1)],
        2,
    )
    assert notes.lines[0] == "the checkpoint of step 2 is left out: the one before is still being written"
    assert len(notes.lines) == 2  # a pipe is no file: best.pt could not be written


def test_a_disk_that_never_answers_is_given_up_after_the_time_that_was_set(tmp_path: Path) -> None:
    os.mkfifo(slow := tmp_path / "best.pt.tmp")
    one, saved, _ = saver(tmp_path, timeout_s=0.2)
    one.put(tmp_path / "best.pt", {"kind": "best"})
    with pytest.raises(AgreedError, match=r"could not be written: it was not written within 0\.2 s; there is none yet"):
        one.finish()
    os.close(os.open(slow, os.O_RDONLY | os.O_NONBLOCK))
    assert saved.failures == ["step 0 of : it was not written within 0.2 s"]


@pytest.mark.parametrize("room_at_the_end", [True, False])
def test_a_model_that_found_no_room_is_written_at_the_end_or_the_stage_is_not_done(
    tmp_path: Path, room_at_the_end: bool
) -> None:
    best = tmp_path / "checkpoints" / "best.pt"
    one, saved, notes = saver(best.parent, on_failure="continue")
    one.put(best, {"kind": "best", "weight": torch.ones(2)})  # its folder is not there
    one.finish()
    assert (len(saved.failures), notes.lines[0][-18:]) == (1, "; training goes on")
    if room_at_the_end:
        best.parent.mkdir()
        one.end()
        assert torch.equal(torch.load(best, weights_only=True)["weight"], torch.ones(2))
        return
    with pytest.raises(AgreedError, match=r"the stage is trained, and its model could not be written: .*best\.pt"):
        one.end()


def test_a_model_that_a_disk_swallowed_is_not_taken_for_written(tmp_path: Path) -> None:
    os.mkfifo(slow := tmp_path / "best.pt.tmp")
    one, _, _ = saver(tmp_path, timeout_s=0.2, on_failure="continue")
    one.put(tmp_path / "best.pt", {"kind": "best"})
    with pytest.raises(AgreedError, match=r"could not be written: it was not written within 0\.2 s"):
        one.end()
    os.close(os.open(slow, os.O_RDONLY | os.O_NONBLOCK))


def test_the_last_ones_stay_and_nothing_half_written_does(tmp_path: Path) -> None:
    saved, _ = write(tmp_path, 1, 2, 3, 4, keep_last=2)
    assert names(tmp_path) == ["operator-0000-00000003", "operator-0000-00000004"]
    assert (saved.written, saved.last_good) == (4, str(tmp_path / "operator-0000-00000004"))


def test_the_policy_keeps_the_best_of_a_stage_and_one_for_every_so_many_hours() -> None:
    found = [
        Kept(Path(str(hour)), "operator", hour * 3600.0, validation)
        for hour, validation in ((6, 0.5), (5, None), (4, 0.2), (3, 0.3), (2, None), (1, 0.9), (0, 0.8))
    ]
    removed = to_remove(found, CheckpointConfig(keep_last=1, keep_best=True, keep_every_hours=3.0))
    assert [path.name for path in removed] == ["5", "2", "1"]


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda path: (path / "__0_0.distcp").unlink(), "__0_0.distcp cannot be read (No such file or directory)"),
        (lambda path: (path / "rank-0.pt").write_bytes(b""), "rank-0.pt has 0 bytes, "),
        (lambda path: flip(path / "__0_0.distcp"), "the checksum of __0_0.distcp differs"),
        (lambda path: flip(path / "manifest.json"), "manifest.json is damaged: "),
        (lambda path: (path / "manifest.json").unlink(), "cannot read the checkpoint's manifest"),
    ],
)
def test_a_damaged_one_is_told_and_the_one_before_is_taken(
    tmp_path: Path, harm: Callable[[Path], object], said: str
) -> None:
    folder, lines = RunFolder(tmp_path), list[str]()
    folder.checkpoints.mkdir()
    write(folder.checkpoints, 1, 2)
    harm(folder.checkpoints / "operator-0000-00000002")
    found = newest_good(folder, alone(), lines.append)
    assert found is not None
    assert (found.path.name, len(lines)) == ("operator-0000-00000001", 1)
    assert lines[0].startswith("checkpoint operator-0000-00000002 is damaged: ")
    assert said in lines[0]


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_where_none_is_good_the_run_says_so_and_does_not_begin_anew(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.checkpoints.mkdir()
    write(folder.checkpoints, 1)
    flip(folder.checkpoints / "operator-0000-00000001/__0_0.distcp")
    with pytest.raises(AgreedError, match=r"no checkpoint in .* is good: operator-0000-00000001 is damaged: the check"):
        newest_good(folder, alone(), lambda line: None)


def test_what_a_dead_run_was_writing_is_removed_and_nothing_else(tmp_path: Path) -> None:
    for name in ("operator-0000-00000009.writing", "mine.writing", "best.pt.writing"):
        (tmp_path / name).mkdir()
    assert [path.name for path in layout.remove_unfinished(tmp_path)] == ["operator-0000-00000009.writing"]
    assert names(tmp_path) == ["best.pt.writing", "mine.writing"]


def test_an_index_from_a_stranger_runs_nothing(tmp_path: Path) -> None:
    import pickle

    class Harm:
        def __reduce__(self) -> Any:
            return os.system, (f"touch {tmp_path}/harmed",)

    (tmp_path / ".metadata").write_bytes(pickle.dumps(Harm()))
    with pytest.raises(DataError, match=r"\.metadata is damaged: .*system has no place in it"):
        shards.read_index(tmp_path)
    assert not (tmp_path / "harmed").exists()


def test_a_folder_that_is_gone_stops_or_goes_on_as_the_policy_says(tmp_path: Path) -> None:
    folder = tmp_path / "checkpoints"
    folder.mkdir()
    one, saved, notes = saver(folder, on_failure="continue")
    one.save({"model/w": torch.ones(1)}, {}, facts(1), last=True)
    folder.rename(tmp_path / "away")
    one.save({"model/w": torch.ones(1)}, {}, facts(2), last=True)
    (tmp_path / "away").rename(folder)
    one.save({"model/w": torch.ones(1)}, {}, facts(3), last=True)
    assert (names(folder), saved.written) == (["operator-0000-00000001", "operator-0000-00000003"], 2)
    assert [line.split(": cannot write")[0] for line in notes.lines] == [
        "the checkpoint of step 2 could not be written"
    ]
    assert notes.lines[0].endswith(f"the last good one is {folder}/operator-0000-00000001; training goes on")
    shutil.rmtree(folder)
    with pytest.raises(AgreedError, match=r"the checkpoint of step 4 could not be written: .*no such file"):
        write(folder, 4)


def test_a_disk_that_takes_no_more_loses_no_good_checkpoint_and_the_run_says_which(tmp_path: Path) -> None:
    """A limit on the size of files stands for the full disk: only the shards are larger than it."""
    write_data(tmp_path)
    config = write_config(tmp_path, training={"checkpoint": {"on_failure": "continue"}, "nproc": 1, "strategy": "none"})
    stage = ("train", config, "--no-preflight", "--stage", "autoencoder")
    first = ups(*stage, "--set", "stages.autoencoder.max_steps=3")
    assert first.returncode == 0, first.stderr
    good = newest(tmp_path)
    done = subprocess.run(
        ["bash", "-c", 'ulimit -f 100; exec "$@"', "bash", sys.executable, *PROGRAM, *map(str, stage), "--resume"],
        capture_output=True, text=True, timeout=600, check=False, env=clean_environment(),
    )  # fmt: skip
    assert (done.returncode, newest(tmp_path), names(good.parent)) == (0, good, [good.name, "autoencoder.pt"])
    why = f"cannot write {good.parent}: File too large"
    told = [line for line in done.stderr.splitlines() if "could not be written" in line]
    assert told[0].endswith(f"could not be written: {why}; the last good one is {good}; training goes on")
    assert f"{len(told)} checkpoints could not be written, the first: step 4 of autoencoder: {why}" in done.stdout


def test_a_checkpoint_is_exported_as_one_file_that_torch_alone_reads(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    run.checkpoints.mkdir()
    saver(run.checkpoints)[0].save(tensors_of(*trained(2)), {"meters": [[1.5, 2.0]]}, facts(2), last=True)
    done = ups("export", tmp_path, tmp_path / "out.pt")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{tmp_path}/out.pt: stage operator, step 2, 2 weights, ")
    content = torch.load(tmp_path / "out.pt", weights_only=True)
    assert sorted(content["optimizer"]["weight"]) == ["exp_avg", "exp_avg_sq", "step"]
    assert (content["ranks"], content["position"]["step"]) == ([{"meters": [[1.5, 2.0]]}], 2)
    refused = ups("export", tmp_path, tmp_path / "out.pt")
    assert (refused.returncode, refused.stderr.splitlines()) == (
        2, [f"error: {tmp_path}/out.pt is there already, and nothing is overwritten"],
    )  # fmt: skip


def test_a_checkpoint_of_an_earlier_version_goes_on_bit_by_bit(tmp_path: Path) -> None:
    """last.pt as it was written: model, optimizer by numbers, every rank's own."""
    module, average, optimizer = trained(3)
    random = random_state(alone().device)
    drawn = torch.rand(3)
    old = {
        "format": 1, "kind": "last", "stage": "operator", "world_size": 2, "best": 0.25,
        "position": {"epoch": 1, "batch": 2, "step": 3}, "model": module.state_dict(),
        "ema": {"module": average.state_dict(), "updates": 3}, "optimizer": optimizer.state_dict(),
        "ranks": [{"random": random, "meters": [[1.0, 4.0]]}, {"random": random, "meters": [[2.0, 4.0]]}],
    }  # fmt: skip
    run = RunFolder(tmp_path)
    run.checkpoints.mkdir()
    torch.save(old, run.last)
    found, after = newest_good(run, alone(), lambda line: None), trained(0)
    assert found is not None
    ema = Ema(after[0], after[1], 0.9)
    restored = state.restored(found, after[0], ema, after[2], alone(), seed=1)
    one, other = tensors_of(module, average, optimizer), tensors_of(after[0], ema.module, after[2])
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert (restored.best, restored.meters, ema.updates, torch.equal(torch.rand(3), drawn)) == (
        0.25, [[3.0, 4.0]], 3, True,
    )  # fmt: skip
    assert restored.notes == ("written by 2 ranks, goes on with 1: the same batches in the same order",)

"""Metrics reach their files line by line, and a resumed run cuts off what came after its checkpoint."""

from __future__ import annotations

from pathlib import Path

from ups.tracking.jsonl import JsonLines, read
from ups.tracking.tensorboard import TensorBoard


def test_records_come_back_as_they_were(tmp_path: Path) -> None:
    lines = JsonLines(tmp_path / "m.jsonl")
    lines.log({"kind": "step", "stage": "operator", "step": 1, "loss": 0.5})
    assert read(tmp_path / "m.jsonl") == [{"kind": "step", "stage": "operator", "step": 1, "loss": 0.5}]
    lines.close()


def test_what_was_logged_after_the_checkpoint_is_cut_off(tmp_path: Path) -> None:
    lines = JsonLines(tmp_path / "m.jsonl")
    lines.log({"kind": "step", "stage": "a", "step": 1})
    size = lines.size
    lines.log({"kind": "step", "stage": "a", "step": 2})
    lines.close()
    again = JsonLines(tmp_path / "m.jsonl", resume_at=size)
    again.log({"kind": "step", "stage": "a", "step": 3})
    again.close()
    assert [record["step"] for record in read(tmp_path / "m.jsonl")] == [1, 3]


def test_tensorboard_gets_every_number_of_a_record_as_a_curve(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    board = TensorBoard(tmp_path)
    board.log({"kind": "step", "stage": "operator", "step": 3, "epoch": 1, "loss": 0.5, "lr": 0.25})
    board.finish(0)
    events = EventAccumulator(str(tmp_path)).Reload()
    curves = {tag: [(event.step, event.value) for event in events.Scalars(tag)] for tag in events.Tags()["scalars"]}
    assert curves == {"operator/loss": [(3, 0.5)], "operator/lr": [(3, 0.25)]}

"""What a training says while it goes on: speed, share of waiting for data, memory and the time that is left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest

from ups import progress
from ups.commands import train
from ups.config import DataConfig, UpsConfig
from ups.launch import watched
from ups.launch.run import Request
from ups.progress import Display, Speed


def shown(monkeypatch: pytest.MonkeyPatch, log: progress.Log) -> None:
    """Shows two looks, 31 seconds apart: a step of 8 samples a second, a tenth of it waiting."""
    clock = iter([0.0, 31.0, 62.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    display = Display(shown=True, log=log)
    display.memory = lambda: 3 << 29
    display.say("latent cache built")
    display.start("operator", 100, 10)
    display.step(41, 31 * 8, 3.1)
    display.step(72, 62 * 8, 6.2)
    display.epoch(0, 3, 0.5, 0.25, 0.25)
    display.stop()


def test_lines_say_speed_waiting_memory_and_time_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown(monkeypatch, "plain")
    assert capsys.readouterr().err.splitlines() == [
        "latent cache built",
        "operator step 41 of 100  8 samples/s  data wait 10%  1.5 GiB  0:00:59 left",
        "operator step 72 of 100  8 samples/s  data wait 10%  1.5 GiB  0:00:28 left",
        "operator 1/3  loss 5.000e-01  validation nRMSE 2.500e-01  best",
    ]


def test_json_has_one_object_a_line_with_the_same_numbers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown(monkeypatch, "json")
    events = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [one.pop("time") > 0 for one in events] == [True] * 4
    speed = {"samples_per_s": 8.0, "data_wait": pytest.approx(0.1), "memory_bytes": 3 << 29}
    assert events == [
        {"event": "note", "text": "latent cache built"},
        {"event": "progress", "stage": "operator", "step": 41, "steps": 100, **speed, "eta_s": 59.0},
        {"event": "progress", "stage": "operator", "step": 72, "steps": 100, **speed, "eta_s": 28.0},
        {"event": "epoch", "stage": "operator", "epoch": 1, "epochs": 3, "loss": 0.5, "validation_nrmse": 0.25,
         "best": 0.25},
    ]  # fmt: skip


def test_quiet_says_nothing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    shown(monkeypatch, "quiet")
    assert capsys.readouterr().err == ""


def test_long_times_are_written_in_hours() -> None:
    speed = Speed(samples_per_s=1234.4, data_wait=0.004, memory_bytes=0, eta_s=2 * 86400 + 61)
    assert str(speed) == "1234 samples/s  data wait 0%  0.0 GiB  48:01:01 left"


@pytest.mark.parametrize(
    ("log", "words"), [("quiet", ["--quiet"]), ("json", ["--log", "json"]), ("plain", ["--log", "plain"]), ("auto", [])]
)
def test_the_watched_training_shows_what_was_asked_for_in_words_that_the_command_knows(
    log: Any, words: list[str]
) -> None:
    request = Request(
        config=UpsConfig(data=DataConfig(task="advection1d")),
        path=Path("c.yaml"), overrides=(), stages=("operator", "steady"), log=log,
    )  # fmt: skip
    given = watched.argv(request)[4:]
    assert given == ["c.yaml", *words, "--no-preflight", "--no-doctor"]
    known = train.command.make_context("train", list(given)).params
    assert ("quiet" if known["quiet"] else known["log"]) == log
    with pytest.raises(click.BadParameter):
        train.command.make_context("train", ["c.yaml", "--log", "quiet"])

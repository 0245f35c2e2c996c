"""A pipeline's steps: what is run, what is left out, how it stops, and that success is what was read back."""

from __future__ import annotations

import dataclasses
import json

import pytest
from small_run import write_config

from ups.config import load_config
from ups.errors import ConfigError, UpsError
from ups.pipeline.artefacts import read_back
from ups.pipeline.engine import Choice, Experiment, Made, Step, run
from ups.pipeline.leaderboard import enter
from ups.pipeline.steps import final, leaderboard

NAMES = ("first", "second", "third")
PROBLEM = {
    "task": "advection1d", "parameters": {"beta": 0.4}, "grid": [32], "frames": 4, "split": "test", "samples": 1,
}  # fmt: skip


@pytest.fixture
def experiment(tmp_path):
    path = write_config(tmp_path)
    return Experiment(config=load_config(path), path=path, overrides=())


class Steps:
    """Three steps that each write a file; `fails` names one that refuses, `forgets` one that writes none."""

    def __init__(self, fails="", forgets=""):
        self.fails, self.forgets, self.made = fails, forgets, []

    def all(self):
        return [Step(name, f"the {name}", lambda experiment, name=name: self.work(experiment, name)) for name in NAMES]

    def work(self, experiment, name):
        self.made.append(name)
        if name == self.fails:
            raise UpsError("it is no good", exit_code=7)
        path = experiment.folder / f"{name}.json"
        if name != self.forgets:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("{}")
        return Made("fine", (path,))


def made(experiment, steps=None, **choice):
    steps, said = steps or Steps(), []
    run(steps.all(), experiment, Choice(**choice), said.append)
    return steps.made


def test_a_step_that_is_done_is_not_done_again_unless_what_it_made_is_gone(experiment):
    assert made(experiment) == list(NAMES)
    assert made(experiment) == []
    (experiment.folder / "second.json").unlink()
    assert made(experiment) == ["second", "third"]


def test_a_failure_names_the_step_keeps_its_code_and_the_next_run_goes_on_there(experiment):
    with pytest.raises(UpsError) as failed:
        made(experiment, Steps(fails="second"))
    assert (failed.value.exit_code, failed.value.message) == (
        7,
        "the pipeline stopped in step second with exit code 7: it is no good",
    )
    assert made(experiment) == ["second", "third"]


def test_a_step_whose_file_is_not_there_has_not_succeeded(experiment):
    with pytest.raises(UpsError, match=r"stopped in step second: .*second.json is not there"):
        made(experiment, Steps(forgets="second"))
    state = json.loads((experiment.folder / "state.json").read_text())
    assert {name: one["outcome"] for name, one in state["steps"].items()} == {"first": "done", "second": "failed"}


def test_steps_are_chosen_by_from_until_and_skip(experiment):
    assert made(experiment, until="second", skipped=["first"]) == ["second"]
    assert made(experiment, start="second") == ["second", "third"]
    with pytest.raises(ConfigError, match="--from third comes after --until first"):
        made(experiment, start="third", until="first")


def test_from_needs_what_comes_before_it(experiment):
    with pytest.raises(ConfigError, match="--from third needs step first, which is not done"):
        made(experiment, start="third")


def test_another_configuration_begins_anew_and_another_gate_does_not(experiment):
    made(experiment)
    config = experiment.config
    gate = dataclasses.replace(config, pipeline=dataclasses.replace(config.pipeline, gate_share=0.5))
    assert made(dataclasses.replace(experiment, config=gate)) == []
    assert made(dataclasses.replace(experiment, config=dataclasses.replace(config, seed=18))) == list(NAMES)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.json", b"{", "cannot be read"),
        ("a.jsonl", b'{"a": 1}\n{"a"', "cannot be read"),
        ("a.png", b"\x89PNG\r\n\x1a\n half", "is no whole picture"),
        ("a.pt", b"no checkpoint", "is damaged or no checkpoint"),
        ("a.h5", b"no hdf5", "is not an HDF5 file"),
        ("a.md", b" \n", "is empty"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_told(tmp_path, name, content, problem):
    path = tmp_path / name
    assert read_back(path) == f"{path} is not there"
    path.write_bytes(content)
    assert problem in read_back(path)


def test_the_best_of_a_problem_is_promoted_and_one_checkpoint_is_entered_once(experiment, tmp_path):
    pipeline = dataclasses.replace(experiment.config.pipeline, leaderboard=tmp_path / "board" / "leaderboard.jsonl")
    config = dataclasses.replace(experiment.config, pipeline=pipeline)
    numbers = PROBLEM
    promoted = tmp_path / "board" / "promoted" / "advection1d-beta0.4-32-4frames-1samples.pt"
    for content, error in ((b"good", 0.1), (b"worse", 0.2), (b"good", 0.1), (b"best", 0.05)):
        checkpoint = tmp_path / "c.pt"
        checkpoint.write_bytes(content)
        said, _ = enter(config, checkpoint, numbers, "operator", error)
        assert promoted.read_bytes() == (b"best" if error < 0.1 else b"good")
    assert said == f"nRMSE 0.05 of one step by operator: the best of 3, promoted to {promoted}"
    assert len(pipeline.leaderboard.read_text().splitlines()) == 3
    enter(config, checkpoint, numbers | {"grid": [64]}, "operator", 0.9)
    assert len(list(promoted.parent.iterdir())) == 2


def test_a_stage_that_validation_chose_is_told_from_the_one_that_the_test_split_shows_to_be_better(
    experiment, tmp_path
):
    pipeline = dataclasses.replace(experiment.config.pipeline, leaderboard=tmp_path / "board" / "leaderboard.jsonl")
    experiment = dataclasses.replace(experiment, config=dataclasses.replace(experiment.config, pipeline=pipeline))
    for folder, operator, diffusion in (("gate", 0.3, 0.2), ("evaluation", 0.25, 0.28)):
        (experiment.folder / folder).mkdir(parents=True)
        numbers = PROBLEM | {"one_step": {"model": {"nRMSE": operator}, "diffusion": {"nRMSE": diffusion}}}
        (experiment.folder / folder / "evaluation.json").write_text(json.dumps(numbers))
    last = final(experiment.config)
    last.parent.mkdir(parents=True)
    last.write_bytes(b"")
    promoted = tmp_path / "board" / "promoted" / "advection1d-beta0.4-32-4frames-1samples.pt"
    said = f"nRMSE 0.28 of one step by diffusion: the best of 1, promoted to {promoted}"
    assert leaderboard(experiment).said == (
        f"{said} (diffusion was the best on validation; of the test split operator has 0.25, which chooses none)"
    )
    agreeing = numbers | {"one_step": {"model": {"nRMSE": 0.25}, "diffusion": {"nRMSE": 0.2}}}
    (experiment.folder / "evaluation" / "evaluation.json").write_text(json.dumps(agreeing))
    assert "on validation" not in leaderboard(experiment).said

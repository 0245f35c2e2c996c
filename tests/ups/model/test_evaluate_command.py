"""`ups evaluate` as its user meets it: files, tables, JSON, and one sentence for what is wrong."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner
from evaluated_run import make_run

from diagnostics.core.errors import DoctorError
from ups.checkpoint import load_best
from ups.commands.data import command as data_command
from ups.commands.evaluate import command
from ups.config import GenerateConfig
from ups.evaluate import open_for


def ups_evaluate(*argv):
    line = [str(Path(sys.executable).with_name("ups")), "evaluate", *map(str, argv)]
    return subprocess.run(line, capture_output=True, text=True, timeout=600, env={**os.environ, "OMP_NUM_THREADS": "1"})


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    make_run(folder)
    records = [
        {"kind": "epoch", "stage": stage, "step": epoch, "epoch": epoch, "train_loss": 1.0, "validation_nrmse": 0.5}
        for stage in ("autoencoder", "operator")
        for epoch in range(2)
    ]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return folder


def test_an_evaluation_leaves_numbers_and_pictures_beside_the_run(run_folder):
    done = ups_evaluate(run_folder / "checkpoints/best.pt")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (run_folder / "plots").iterdir()) == [
        "error_over_time.png",
        "fields.png",
        "learning_curves.png",
        "profiles.png",
    ]
    lines = done.stdout.splitlines()
    assert lines[0] == "advection1d, test split, 1 samples: one step of 0.25"
    assert lines[-2] == f"numbers   {run_folder}/evaluation.json"
    numbers = json.loads((run_folder / "evaluation.json").read_text())
    assert f"{numbers['one_step']['model']['nRMSE']:.3e}" in done.stdout


def test_json_on_stdout_is_the_file_and_nothing_else(run_folder, tmp_path):
    argv = [run_folder / "checkpoints/best.pt", "--json", "--out", tmp_path, "--split", "all", "--samples", 2]
    done = CliRunner().invoke(command, [str(part) for part in argv])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == json.loads((tmp_path / "evaluation.json").read_text())
    assert json.loads(done.stdout)["samples"] == 2


def refused(*argv):
    """Returns exit code and message of a command that ends with an error of ours."""
    caught = CliRunner().invoke(command, [str(part) for part in argv]).exception
    assert isinstance(caught, DoctorError), caught
    return caught.exit_code, caught.message


def test_a_missing_checkpoint_a_foreign_one_and_a_damaged_one_are_named(run_folder, tmp_path):
    torch.save({"model": torch.zeros(2)}, tmp_path / "foreign.pt")
    whole = (run_folder / "checkpoints/best.pt").read_bytes()
    (tmp_path / "cut.pt").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.pt").write_text("no checkpoint at all")
    assert refused(tmp_path / "absent.pt") == (
        2,
        f"cannot read {tmp_path}/absent.pt: no such file or folder",
    )
    assert refused(tmp_path / "cut.pt") == (1, f"{tmp_path}/cut.pt is damaged: it is cut off")
    code, said = refused(tmp_path / "text.pt")
    assert (code, said.partition(": ")[0]) == (2, f"{tmp_path}/text.pt is damaged or no checkpoint")
    assert refused(tmp_path / "foreign.pt") == (
        2,
        f"{tmp_path}/foreign.pt holds 'something else', a checkpoint of kind 'best', format 1, is needed",
    )


def test_a_missing_data_file_is_named(run_folder, tmp_path):
    best = run_folder / "checkpoints/best.pt"
    gone = tmp_path / "gone.hdf5"
    assert refused(best, "--data", gone) == (2, f"cannot read {gone}: no such file or folder")


def test_data_that_is_gone_is_named_with_the_command_that_makes_it_again(run_folder, tmp_path):
    best = load_best(run_folder / "checkpoints/best.pt")
    path = tmp_path / best.spec.path.name
    data = replace(best.config.data, root=tmp_path, generate=GenerateConfig(samples=3, frames=5))
    config = replace(best.config, data=data)
    gone = replace(best, config=config, spec=replace(best.spec, path=path))
    with pytest.raises(DoctorError) as caught:
        open_for(gone)
    again = f"ups data generate advection1d --parameter 0.4 --root {tmp_path} --samples 3 --frames 5"
    assert caught.value.message == f"there is no data file {path}, which the run was trained on"
    assert caught.value.hint == f"name another one: --data FILE, or make it again: {again}"
    assert CliRunner().invoke(data_command, shlex.split(again)[2:]).exit_code == 0
    assert open_for(gone).samples == 3


def test_zero_samples_are_refused(run_folder):
    best = run_folder / "checkpoints/best.pt"
    assert refused(best, "--samples", 0) == (2, "--samples 0: one sample is the least")


def test_an_evaluation_that_cannot_be_written_is_named(run_folder, tmp_path):
    (tmp_path / "file").write_text("")
    code, message = refused(run_folder / "checkpoints/best.pt", "--out", tmp_path / "file" / "out")
    assert (code, message.startswith("cannot write the evaluation")) == (1, True)

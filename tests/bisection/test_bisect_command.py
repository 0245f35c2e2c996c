from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from diagnostics.bisection.tries.side_effects import FolderState
from diagnostics.cli import doctor
from diagnostics.commands.bisect_model import _resume
from diagnostics.core.errors import UsageError

FAILING = """\
import ctypes

import torch
from torch import nn


class Reads(nn.Module):
    def __init__(self, width, crash):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.crash = crash

    def forward(self, x):
        if self.crash:
            ctypes.string_at(0)
        return self.layer(x)


class Net(nn.Module):
    def __init__(self, crash=True):
        super().__init__()
        self.layers = nn.ModuleList([Reads(4, crash and place == 2) for place in range(4)])
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def healthy():
    return Net(crash=False)


def batch():
    return torch.randn(3, 4)
"""
# The first optimizer that a process makes imports for two seconds.
BY_HAND = "net.weight.data -= 0.1 * net.weight.grad\n"
COMMAND = [sys.executable, "-P", "-c", "from diagnostics.cli import main; main()", "bisect-model"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a model whose third layer reads address 0."""
    (tmp_path / "net.py").write_text(FAILING)
    return tmp_path


def ran(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *words], cwd=folder, capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name one model: a MODULE:FACTORY, a CONFIG, or --script TRAIN.PY"),
        (["net:Net", "--inputs", "batch"], "--inputs batch: a MODULE:NAME was expected"),
        (["net:Net", "--set", "a=1"], "--set needs a CONFIG"),
        (["net.py"], "net.py is no CONFIG: name what builds the model in it, or have a run of it captured"),
        (["absent.yaml"], "absent.yaml: no such file"),
        (["net:Net", "--backend", "nccl"], "--backend nccl needs --device cuda: NCCL moves no tensors of a CPU"),
        (["net:Net", "--resume"], "--resume needs --report-dir: the folder of the bisection to go on with"),
        (["net:Net", "--report-dir", "."], "--report-dir . is not empty: a report never overwrites another"),
    ],
)
def test_wrong_use_is_one_sentence_and_leaves_no_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(UsageError) as refused:
        CliRunner().invoke(doctor(), ["bisect-model", *words], catch_exceptions=False)
    assert refused.value.message == said
    assert [path.name for path in folder.glob("reports/*")] == []


def test_a_model_that_cannot_be_called_is_wrong_use(folder: Path) -> None:
    result = ran(folder, "net:Net")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.splitlines()[-2:] == [
        "error: Net.forward takes (x)",
        "  add --inputs module:make_batch, which returns a tensor, a tuple (args) or a dict (keywords)",
    ]
    assert [path.name for path in folder.glob("reports/*")] == []


@pytest.mark.parametrize(
    ("words", "text", "said"),
    [
        (
            ["own:make"],
            "import nothere\n",
            "own:make: importing own raised ModuleNotFoundError at own.py:1: No module",
        ),
        (
            ["own.py:make"],
            "raise ValueError('no')\n",
            "own.py:make: importing own.py raised ValueError at own.py:1: no",
        ),
        (["own:make"], "def make(: 1\n", "own:make: importing own raised SyntaxError: invalid syntax (own.py, line 1)"),
        (
            ["net:Net", "--inputs", "own:batch"],
            "1 / 0\n",
            "own:batch: importing own raised ZeroDivisionError at own.py:1",
        ),
    ],
)
def test_a_module_that_cannot_be_imported_is_wrong_use(folder: Path, words: list[str], text: str, said: str) -> None:
    (folder / "own.py").write_text(text)
    result = ran(folder, *words)
    told = next(line for line in result.stderr.splitlines() if line.startswith("error: "))
    assert (result.returncode, result.stdout, told[: len(said) + 7]) == (2, "", f"error: {said}")
    assert [path.name for path in folder.glob("reports/*")] == []


@pytest.mark.slow
def test_a_crash_is_bisected_to_its_module_and_a_script_that_fails_alike(folder: Path) -> None:
    result = ran(folder, "net:Net", "--inputs", "net:batch", "--report-dir", "found")
    assert (result.returncode, result.stdout.splitlines()[0]) == (
        1,
        "FAIL  layers.2 (Reads, net.py:7) dies of SIGSEGV in forward on ranks 0, 1",
    )
    report = json.loads((folder / "found" / "report.json").read_text())
    told = {name: report[name] for name in ("outcome", "failure_class", "module", "location", "culprit_ranks")}
    assert told == {
        "outcome": "crash",
        "failure_class": "native-crash",
        "module": "layers.2",
        "location": "net.py:15",
        "culprit_ranks": [0, 1],
    }
    assert report["bisection"]["needed"] == []
    assert report["bisection"]["repro"]["failed"] == report["bisection"]["repro"]["runs"] > 0
    again = subprocess.run(
        [sys.executable, "found/repro.py"], cwd=folder, capture_output=True, timeout=600, check=False
    )
    assert again.returncode == -signal.SIGSEGV
    names = {path.name for path in (folder / "found").iterdir()}
    assert {"report.md", "report.json", "repro.py", "issue.md", "tree.svg", "tries.jsonl", "failing-run"} <= names


@pytest.mark.slow
def test_the_healthy_twin_does_not_fail(folder: Path) -> None:
    result = ran(folder, "net:healthy", "--inputs", "net:batch", "--wrapper", "ddp", "--compile", "--json")
    report = json.loads(result.stdout)
    assert (result.returncode, report["outcome"], report["module"]) == (0, "ok", None)
    assert {one["failed"] for one in report["bisection"]["tried"]} == {0}


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_known_and_says_how_to_go_on(folder: Path) -> None:
    words = ["net:Net", "--inputs", "net:batch", "--report-dir", "cut"]
    process = subprocess.Popen(
        [*COMMAND, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 300
    while time.monotonic() < until and process.poll() is None and lines(folder / "cut" / "tries.jsonl") < 3:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "ups-doctor bisect-model net:Net --inputs net:batch --report-dir cut --resume" in out + err
    assert json.loads((folder / "cut" / "report.json").read_text())["outcome"] == "crash"
    assert left_behind(folder) == []


def lines(path: Path) -> int:
    return len(path.read_text().splitlines()) if path.is_file() else 0


def left_behind(folder: Path) -> list[str]:
    """Processes that still work in this folder."""
    found = []
    for one in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if one.readlink() == folder:
                found.append((one.parent / "cmdline").read_text())
        except OSError:
            continue
    return found


@pytest.mark.slow
def test_a_script_whose_data_worker_dies_is_explained_and_no_module_is_named(folder: Path) -> None:
    (folder / "train.py").write_text(
        "import ctypes, torch\n"
        "class Data(torch.utils.data.Dataset):\n"
        "    def __len__(self):\n"
        "        return 8\n"
        "    def __getitem__(self, index):\n"
        "        if index == 5:\n"
        "            ctypes.string_at(0)\n"
        "        return torch.ones(4)\n"
        "net = torch.nn.Linear(4, 2)\n"
        "for batch in torch.utils.data.DataLoader(Data(), batch_size=8, num_workers=1):\n"
        "    net(batch).sum().backward()\n"
        f"    {BY_HAND}"
    )
    result = ran(folder, "--report-dir", "bisection", "--script", "train.py")
    assert result.returncode == 1, result.stderr
    report = json.loads((folder / "bisection" / "report.json").read_text())
    assert (report["outcome"], report["failure_class"], report["location"], report["module"], report["exit_code"]) == (
        "crash",
        "data-worker-crash",
        "train.py:7",
        None,
        1,
    )
    assert "and no module of it is the cause: it ends before" in result.stdout


@pytest.mark.slow
def test_a_script_that_dies_once_and_not_again_is_no_finding(folder: Path) -> None:
    (folder / "train.py").write_text(
        "import pathlib, sys, torch\n"
        "if not pathlib.Path('ran').exists():\n"
        "    pathlib.Path('ran').touch()\n"
        "    sys.exit('no data yet')\n"
        "net = torch.nn.Linear(4, 2)\n"
        "net(torch.ones(8, 4)).sum().backward()\n"
        f"{BY_HAND}"
        "pathlib.Path('trained').touch()\n"
    )
    result = ran(folder, "--script", "train.py")
    assert (result.returncode, result.stdout) == (2, "")
    assert "train.py ended with exit code 1 before a model was given a batch: no data yet" in result.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["net.py", "ran", "train.py"]


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["net:Net", "--report-dir", "found"], "net:Net --report-dir found --resume"),
        (["net:Net", "--report-dir=found"], "net:Net --report-dir=found --resume"),
        (["net:Net", "--report-dir", "read-only/a"], "net:Net --report-dir found --resume"),
        (["--report-dir=read-only/a", "net:Net"], "net:Net --report-dir found --resume"),
        (["net:Net", "--script", "t.py", "--report-dir", "its"], "net:Net --report-dir found --resume --script t.py "),
    ],
)
def test_the_command_that_goes_on_names_the_folder_that_was_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], shown: str
) -> None:
    monkeypatch.chdir(folder)
    assert _resume(words, folder / "found").startswith(f"ups-doctor bisect-model {shown}")


def test_a_folder_that_may_not_be_entered_and_our_own_log_are_no_files_of_the_first_try(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "own.log").touch()
    monkeypatch.setattr("pathlib.Path.is_file", _refused)  # as of a folder of another user
    with (folder / "own.log").open("w") as log:
        monkeypatch.setattr("os.fstat", lambda fd, real=os.fstat: real(log.fileno() if fd == 2 else fd))
        before = FolderState(folder, but=folder / "reports")
        log.write("a line\n")
        log.flush()
        (folder / "of the model.txt").touch()
        assert before.written() == ("of the model.txt",)


def _refused(path: Path) -> bool:
    raise PermissionError(13, "Permission denied", str(path))

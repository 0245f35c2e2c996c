"""The command line `ups` as real processes, with and without what training needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# Stands for an environment in which only the doctor was installed.
WITHOUT = """
import sys
for name in ("torch", "h5py", "scipy", "matplotlib", "tensorboard"):
    sys.modules[name] = None
"""
CONFIG = "data:\n  task: darcy2d\n"


def ups(*arguments: str, prepare: str = "") -> subprocess.CompletedProcess[str]:
    program = f"{prepare}\nfrom ups.cli import main; main()"
    return subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=60)


NAMES = ["cache", "data", "evaluate", "export", "launch", "pipeline", "predict", "track", "train"]


def test_help_lists_every_command_and_imports_no_torch() -> None:
    told = ups("--help", prepare=WITHOUT)
    assert (told.returncode, told.stderr) == (0, "")
    assert [line.split()[0] for line in told.stdout.split("Commands:")[1].split("\n\n")[0].split("\n  ")[1:]
            if not line.startswith(" ")] == NAMES  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [
        ("train", "{}/c.yaml"),
        ("evaluate", "{}/c.yaml"),
        ("data", "generate", "darcy2d", "--root", "{}", "--samples", "2"),
    ],
)
def test_a_command_without_what_it_needs_is_one_sentence(arguments: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(CONFIG)
    told = ups(*(word.format(tmp_path) for word in arguments), prepare=WITHOUT)
    first, hint = told.stderr.splitlines()
    assert told.returncode == 1
    assert first.startswith("error: this command needs ")
    assert first.endswith(f", and {sys.executable} has none: the doctor alone is installed")
    assert hint == f"  {sys.executable} -m pip install 'ups-doctor[train]'   # a torch that is there is kept"


def test_an_unknown_command_names_the_nearest() -> None:
    told = ups("trian")
    assert (told.returncode, told.stdout) == (2, "")
    assert "no command 'trian'; did you mean 'train'?" in told.stderr

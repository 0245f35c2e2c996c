"""Files that name classes of the user's own: reported, never moved; their tags are repaired all the same."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

Fix = Callable[..., "subprocess.CompletedProcess[str]"]
WRITE = """
import os, sys, torch
tag = sys.argv[2]
torch.serialization.location_tag = lambda storage: "".join(tag)
class TrainingArguments:
    def __init__(self): self.lr, self.scale = 0.1, torch.ones(3)
class Runs:
    def __reduce__(self): return os.system, ("touch ran",)
content = {"arguments": TrainingArguments(), "latent": torch.arange(4.0)}
if sys.argv[3] == "dangerous": content["more"] = Runs()
torch.save(content, sys.argv[1])
"""
LOAD = """
import sys, torch
class TrainingArguments: pass
content = torch.load(sys.argv[1], weights_only=False)
print(content["latent"].tolist(), content["arguments"].scale.tolist(), content["arguments"].lr)
"""


def write(path: Path, tag: str, kind: str) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-c", WRITE, str(path), tag, kind], check=True, env=environment, timeout=600)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "runs"
    place.mkdir()
    return place


def test_a_file_with_a_class_of_its_own_is_named_and_stays(folder: Path, fix: Fix) -> None:
    write(folder / "training_args.bin", "cpu", "own")
    before = (folder / "training_args.bin").read_bytes()
    done = fix("--yes", "runs")
    assert done.returncode == 1
    assert "loading it would import __main__.TrainingArguments" in " ".join(done.stdout.split())
    assert "left as it is: programs that know what it names may need it" in " ".join(done.stdout.split())
    assert (folder / "training_args.bin").read_bytes() == before
    assert not (folder.parent / "quarantine").exists()


def test_its_tags_are_repaired_all_the_same(folder: Path, fix: Fix) -> None:
    write(folder / "training_args.bin", "cuda:0", "own")
    assert fix("--yes", "runs").returncode == 1  # the class is still there, and still said
    loaded = subprocess.run(
        [sys.executable, "-c", LOAD, str(folder / "training_args.bin")], capture_output=True, text=True, timeout=600
    )
    assert (loaded.returncode, loaded.stdout) == (0, "[0.0, 1.0, 2.0, 3.0] [1.0, 1.0, 1.0] 0.1\n")


def test_a_file_that_reaches_the_system_is_moved(folder: Path, fix: Fix) -> None:
    write(folder / "training_args.bin", "cuda:0", "dangerous")
    assert fix("--yes", "runs").returncode == 0
    assert (folder.parent / "quarantine" / "runs" / "training_args.bin").exists()


def test_an_array_of_objects_stays(folder: Path, fix: Fix) -> None:
    np.save(folder / "names.npy", np.array(["a", "bc"], dtype=object), allow_pickle=True)
    assert fix("--yes", "runs").returncode == 1
    assert (folder / "names.npy").exists()

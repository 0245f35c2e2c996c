"""`ups-doctor fix-cache --regenerate CONFIG`: tags rewritten, useless files moved, what is lost encoded again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from small_run import clean_environment, ups, write_config, write_data
from test_cache_guard import tag

DOCTOR = [sys.executable, "-c", "import sys; from diagnostics.cli import main; main()"]


class Job:
    """A configuration with a trained first stage and a cache of one file a sample."""

    def __init__(self, folder: Path, layout: str) -> None:
        self.folder = folder
        write_data(folder)
        self.path = write_config(folder, cache={"layout": layout})
        made = ups("train", self.path, "--no-preflight", "--stage", "autoencoder")
        assert made.returncode == 0, made.stderr
        assert ups("cache", "build", self.path).returncode == 0
        self.cache = folder / "run" / "cache"

    def fix(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        argv = [*DOCTOR, "fix-cache", *map(str, words)]
        return subprocess.run(
            argv, cwd=self.folder, env=clean_environment(), capture_output=True, text=True, timeout=240, check=False
        )

    def latents(self) -> dict[str, torch.Tensor]:
        files = sorted(self.cache.glob("*.pt"))
        return {path.name: torch.load(path, weights_only=True, map_location="cpu")["latents"] for path in files}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Job:
    return Job(tmp_path_factory.mktemp("pt"), "pt")


def test_tags_cuts_and_gaps_of_a_cache_are_all_made_right_by_one_command(built: Job, tmp_path: Path) -> None:
    before = built.latents()
    tagged, cut, gone = (built.cache / f"train_u_{number:05d}.pt" for number in (1, 2, 3))
    # Another writer's file of the same tensor: its size, too, is another one.
    tag({"latents": before[tagged.name]}, "cuda:0", tagged)
    manifest = json.loads((built.cache / "manifest.json").read_text())
    manifest["files"][tagged.name] = tagged.stat().st_size
    (built.cache / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")
    os.truncate(cut, 900)
    gone.unlink()
    assert ups("cache", "info", built.path).returncode == 1

    plan = built.fix(built.cache, "--regenerate", built.path, "--dry-run")
    assert plan.returncode == 1, plan.stderr
    assert (
        f"  remake         1  made again by the program that made them\n      {'run/cache/manifest.json'}: "
        in plan.stdout
    )
    assert "2 files of it made again: 2 samples encoded on the CPU with the encoder that it names (" in plan.stdout
    assert (cut.stat().st_size, gone.exists()) == (900, False)

    done = built.fix(built.cache, "--regenerate", built.path, "--yes")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 repaired, 1 moved, 1 made again (" in done.stdout
    assert [path.name for path in built.folder.rglob("quarantine/**/*.pt")] == [cut.name]
    now = built.latents()
    assert now.keys() == before.keys()
    for name in before:
        torch.testing.assert_close(now[name], before[name], rtol=1e-5, atol=1e-5)
    assert torch.equal(now[tagged.name], before[tagged.name])
    trained = ups("train", built.path, "--no-preflight", "--stage", "operator")
    assert trained.returncode == 0, trained.stderr
    assert "latent cache reused" in trained.stderr


def test_a_cache_that_was_not_named_is_refused(built: Job, tmp_path: Path) -> None:
    shutil.copy(next(built.cache.glob("*.pt")), tmp_path)
    refused = built.fix(tmp_path, "--regenerate", built.path, "--yes")
    assert refused.returncode == 2
    assert refused.stderr.startswith(f"error: the cache of that configuration is {built.cache}, which was not named")


def test_a_cache_of_another_encoder_is_refused_in_one_sentence(built: Job) -> None:
    path = built.cache / "manifest.json"
    kept = path.read_bytes()
    path.write_text(json.dumps(json.loads(kept) | {"encoder": "0" * 64}))
    try:
        refused = built.fix(built.cache, "--regenerate", built.path, "--yes")
    finally:
        path.write_bytes(kept)
    assert refused.returncode == 1
    first, second = refused.stderr.splitlines()
    assert first.startswith(
        f"error: the samples cannot be made again: the latent cache {built.cache} belongs to another configuration: "
    )
    assert second == f"  ups cache build {built.path} --rebuild"


def test_set_without_a_configuration_is_wrong_use(built: Job) -> None:
    refused = built.fix(built.cache, "--set", "a=b", "--yes")
    assert (refused.returncode, refused.stderr) == (
        2,
        "error: --set changes keys of the CONFIG that --regenerate names, and none is named\n",
    )


def test_a_cut_array_keeps_what_it_still_holds_and_is_not_moved_away(tmp_path: Path) -> None:
    job = Job(tmp_path, "npy")
    path = job.cache / "train_u.npy"
    before = path.read_bytes()
    os.truncate(path, len(before) - 10)
    done = job.fix(job.cache, "--regenerate", job.path, "--yes")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 file of it made again: 1 sample encoded on the CPU" in done.stdout
    assert not (tmp_path / "quarantine").exists()
    after = path.read_bytes()
    assert len(after) == len(before)
    each = (len(before) - 128) // 8
    assert after[:-each] == before[:-each]
    assert ups("cache", "info", job.path).returncode == 0

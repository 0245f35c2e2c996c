"""A contaminated or stale latent cache ends every rank with one sentence, before a loader's worker starts."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from pathlib import Path

import pytest
import torch
from small_run import launch, ups, write_config, write_data

from ups.data import cache_guard
from ups.errors import CacheRefusedError
from ups.launch.reports import RankReport

# Every Python process of a run leaves its command line: a loader's workers come from a fork server.
WITNESS = "import os, sys\nwith open(os.environ['WITNESS'], 'a') as file: print(*sys.orig_argv, file=file)\n"


def tag(value: object, location: str, path: Path) -> Path:
    """Saves as torch does on a machine that has the device."""
    real = torch.serialization.location_tag
    torch.serialization.location_tag = lambda storage: location
    try:
        torch.save(value, path)
    finally:
        torch.serialization.location_tag = real
    return path


class Trained:
    """A first stage that is trained and a cache that is built; each test starts its own second stage."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.witness = folder, folder / "processes"
        (folder / "site").mkdir()
        (folder / "site" / "sitecustomize.py").write_text(WITNESS)
        write_data(folder)
        self.config = write_config(folder, training={"workers": 1, "nproc": 2})
        done = ups("train", self.config, "--no-preflight")
        assert done.returncode == 0, done.stderr
        self.made = folder / "run"

    def second_stage(self, folder: Path) -> SecondStage:
        (folder / "checkpoints").mkdir(parents=True)
        shutil.copy(self.made / "checkpoints" / "autoencoder.pt", folder / "checkpoints")
        shutil.copy(self.made / "normalisation.json", folder)
        shutil.copytree(self.made / "cache", folder / "cache")
        return SecondStage(self, folder)


class SecondStage:
    def __init__(self, trained: Trained, folder: Path) -> None:
        self.trained, self.folder, self.cache = trained, folder, folder / "cache"
        self.named = f"{trained.config} --set output.dir={folder}"
        self.witness = folder / "processes"

    def train(self) -> tuple[int, str, str]:
        """Returns the exit code, what was said, and the last line of stdout."""
        watched = {"WITNESS": str(self.witness), "PYTHONPATH": str(self.trained.folder / "site")}
        options = ("--no-preflight", "--stage", "operator", "--set", f"output.dir={self.folder}")
        done = ups("train", self.trained.config, *options, environ=watched)
        return done.returncode, done.stderr, done.stdout

    @property
    def workers(self) -> int:
        return self.witness.read_text().count("forkserver") if self.witness.exists() else 0

    def ranks(self) -> list[RankReport]:
        """Starts both ranks as the launcher does; returns what each said."""
        argv = ["-m", "ups.launch.rank", self.trained.config, "--stages", "operator"]
        began = time.monotonic()
        launched = launch(*argv, "--set", f"output.dir={self.folder}")
        assert time.monotonic() - began < 60
        assert [one.code for one in launched.ended] == [1, 1]
        return list(launched.reports)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    return Trained(tmp_path_factory.mktemp("trained"))


@pytest.fixture
def second(trained: Trained, tmp_path: Path) -> SecondStage:
    return trained.second_stage(tmp_path / "second")


def test_a_clean_cache_trains_with_workers(second: SecondStage) -> None:
    code, error, said = second.train()
    assert (code, said.split(";")[0]) == (0, "completed: 2 ranks, 6 steps each"), error
    assert "latent cache reused" in error
    assert second.workers == 2


def test_a_cuda_tagged_sample_ends_both_ranks_with_the_same_sentence_before_any_worker(second: SecondStage) -> None:
    bad = tag({"latent": torch.ones(3), "cond": torch.ones(1)}, "cuda:3", second.cache / "sample_00017.pt")
    code, error, said = second.train()
    wanted = f"the latent cache {second.cache} is refused: 1 of "
    assert (code, said, second.workers) == (1, "", 0)
    assert error.startswith(f"error: {wanted}")
    assert " cache files carry tags of cuda:3: " in error
    assert f"({bad}: key 'latent' is tagged cuda:3)" in error
    assert f"ups-doctor fix-cache {second.cache}\n" in error
    assert "Traceback" not in error

    first, other = second.ranks()
    assert first.error.startswith(wanted)
    assert (other.error, other.hint, other.code) == (first.error, first.hint, first.code)
    assert [first.lost_peer, other.lost_peer] == [False, False]


def test_a_refused_run_leaves_its_folder_free_for_the_next_attempt(trained: Trained, tmp_path: Path) -> None:
    bad = tag(torch.ones(3), "cuda:0", tmp_path / "latent.pt")
    options = ("--no-preflight", "--set", f"output.dir={tmp_path}/run", "--set", f"cache.dir={tmp_path}")
    refused = ups("train", trained.config, *options)
    assert (refused.returncode, f"{bad}: key " in refused.stderr) == (1, True), refused.stderr
    bad.unlink()
    again = ups("train", trained.config, *options, "--set", f"cache.dir={tmp_path}/cache")
    assert again.returncode == 0, again.stderr


def test_a_cache_of_another_encoder_is_refused_alike(second: SecondStage) -> None:
    path = second.cache / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"encoder": "0" * 64}))
    first, other = second.ranks()
    assert first.error.startswith(f'the latent cache {second.cache} belongs to another configuration: encoder is "0000')
    assert first.hint == f"ups cache build {second.named} --rebuild"
    assert (other.error, other.hint) == (first.error, first.hint)


@pytest.mark.parametrize("harm", ["shorter", "longer", "missing"])
def test_a_file_that_changed_its_size_is_refused_alike(second: SecondStage, harm: str) -> None:
    path = second.cache / "train_u.npy"
    before = path.stat().st_size
    if harm == "missing":
        path.unlink()
        seen = "is missing"
    else:
        os.truncate(path, before + (4 if harm == "longer" else -4))
        seen = f"has {before + (4 if harm == 'longer' else -4)} bytes, not {before}"
    first, other = second.ranks()
    assert first.error == f"the latent cache {second.cache} is damaged: train_u.npy {seen}"
    assert first.hint == f"ups cache repair {second.named}   # encodes again only what is missing"
    assert (other.error, other.hint) == (first.error, first.hint)


def test_an_unsafe_pickle_in_the_cache_is_never_run(second: SecondStage, tmp_path: Path) -> None:
    class Surprise:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.mkdir, (str(tmp_path / "surprise"),)

    torch.save({"x": Surprise()}, second.cache / "x.pt")
    first, other = second.ranks()
    assert "loading it would import posix.mkdir" in first.error
    assert (first.hint, other.error) == (f"ups-doctor fix-cache {second.cache}", first.error)
    assert not (tmp_path / "surprise").exists()


def test_where_rank_0_cannot_look_nobody_waits(second: SecondStage) -> None:
    shutil.rmtree(second.cache)
    second.cache.write_text("a file where a folder was")
    first, other = second.ranks()
    assert first.error == f"cannot read the latent cache {second.cache}: a part of the path is not a folder"
    assert (other.error, other.hint) == (first.error, first.hint)


BROKEN = """
import sys
from ups.data import cache_guard
def broken(*arguments, **options): raise RuntimeError("a fault of the scan")
cache_guard.scan = broken
from ups.launch import rank
sys.exit(rank.main(sys.argv[1:]))
"""


def test_where_the_scan_itself_breaks_nobody_waits(second: SecondStage) -> None:
    argv = ["-c", BROKEN, str(second.trained.config), "--stages", "operator", "--set", f"output.dir={second.folder}"]
    began = time.monotonic()
    launched = launch(*argv)
    first, other = launched.reports
    assert (first.error, other.error) == (
        "rank 0 stopped: RuntimeError: a fault of the scan",
        "rank 0: RuntimeError: a fault of the scan",
    )
    assert time.monotonic() - began < 30


SLOW = """
import sys, time
from ups.data import cache_guard
real = cache_guard.scan
def slow(paths, observer):
    for _ in range(60):
        time.sleep(0.1)
        observer.scanned(1, 0)
    return real(paths, observer=observer)
cache_guard.scan = slow
from ups.launch import rank
sys.exit(rank.main(sys.argv[1:]))
"""


def test_a_scan_that_takes_longer_than_a_collective_may_is_waited_for(second: SecondStage) -> None:
    argv = ["-c", SLOW, str(second.trained.config), "--stages", "operator", "--set", f"output.dir={second.folder}"]
    launched = launch(*argv, "--set", "training.timeout_s=4")
    assert launched.completed, launched.reports


def test_two_thousand_files_are_looked_at_in_less_time_than_torch_loads_them_in(tmp_path: Path) -> None:
    torch.save({"latent": torch.ones(64, 64)}, tmp_path / "0.pt")
    for number in range(1, 2000):
        shutil.copy(tmp_path / "0.pt", tmp_path / f"{number}.pt")
    tag(torch.ones(2), "cuda:1", tmp_path / "999.pt")
    began = time.process_time()
    with pytest.raises(CacheRefusedError, match=r"999\.pt: key .* is tagged cuda:1"):
        cache_guard.examine(tmp_path, {})
    looked = time.process_time()
    for number in range(2000):
        torch.load(tmp_path / f"{number}.pt", map_location="cpu")
    assert looked - began < time.process_time() - looked, sys.version  # half of it as a rule

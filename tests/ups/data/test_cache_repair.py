"""`ups cache repair`: only what is missing or cut is encoded again, with the encoder that the manifest names."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
import torch
from small_run import clean_environment, ups, write_config, write_data
from test_cache_guard import tag
from warm_python import python

from ups.cache_repair import Repair
from ups.config import load_config
from ups.data import latent_cache
from ups.data.cache_layouts import LAYOUTS
from ups.errors import ConfigError, DataError, UpsError
from ups.trained import trained_material

VICTIMS = {"npy": "train_u.npy", "safetensors": "train_u.safetensors", "shards": "train_u_00000.shard"}
VICTIMS |= {"pt": "train_u_00003.pt"}


class Built:
    """A trained first stage with a cache in one layout, and what its files hold."""

    def __init__(self, folder: Path, layout: str) -> None:
        write_data(folder)
        self.path = write_config(folder, cache={"layout": layout})
        made = ups("train", self.path, "--no-preflight", "--stage", "autoencoder")
        assert made.returncode == 0, made.stderr
        self.config = load_config(self.path)
        self.cache = self.config.cache_dir
        assert ups("cache", "build", self.path).returncode == 0
        self.before = self.content()

    def content(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in sorted(self.cache.iterdir())}

    def again(self) -> None:
        shutil.rmtree(self.cache)
        self.cache.mkdir()
        for name, content in self.before.items():
            (self.cache / name).write_bytes(content)

    def repair(self, *samples: int) -> Repair:
        state, material = trained_material(self.config)
        return Repair(self.config, material, state, samples=samples)

    def same(self) -> bool:
        """Whether every byte is what it was."""
        before = {name: value for name, value in self.before.items() if name != "manifest.json"}
        now = self.content()
        assert now["manifest.json"] == self.before["manifest.json"]
        assert {name: len(value) for name, value in now.items()} == {n: len(v) for n, v in self.before.items()}
        return all(now[name] == value for name, value in before.items())


@pytest.fixture(scope="module", params=[*LAYOUTS])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return Built(tmp_path_factory.mktemp(request.param), request.param)


@pytest.fixture
def cache(built: Built) -> Built:
    torch.set_num_threads(1)  # as the cache was built: the sums are then the same, bit for bit
    built.again()
    return built


def victim(cache: Built) -> Path:
    return cache.cache / VICTIMS[cache.config.cache.layout]


def test_a_whole_cache_has_nothing_to_repair(cache: Built) -> None:
    repair = cache.repair()
    assert (repair.damage.kept, repair.damage.samples, repair.seconds()) == ({}, 0, 0.0)
    times = {path.name: path.stat().st_mtime_ns for path in cache.cache.iterdir()}
    repair.run()
    assert {path.name: path.stat().st_mtime_ns for path in cache.cache.iterdir()} == times


def test_a_missing_file_comes_back_as_it_was(cache: Built) -> None:
    victim(cache).unlink()
    repair = cache.repair()
    assert repair.damage.samples == (1 if cache.config.cache.layout == "pt" else 8)
    repair.run()
    assert cache.same()


def test_of_a_file_that_was_cut_only_what_is_lost_is_encoded(cache: Built) -> None:
    array = repair_array(cache)
    os.truncate(victim(cache), victim(cache).stat().st_size - 2 * array.sample_bytes - 3)
    repair = cache.repair()
    assert repair.damage.samples == (1 if cache.config.cache.layout == "pt" else 3)
    done: list[int] = []
    repair.run(done.append)
    assert done == list(range(1, repair.damage.samples + 1))
    assert cache.same()


def repair_array(cache: Built) -> latent_cache.Array:
    return latent_cache.layout_of(latent_cache.parse_manifest(cache.cache))[1]["train_u"]


def test_an_emptied_file_and_one_of_zeros_at_its_beginning_are_made_again(cache: Built) -> None:
    if cache.config.cache.layout == "shards":
        pytest.skip("a shard has nothing but numbers in it: any of the right size are as good")
    content = bytearray(victim(cache).read_bytes())
    for wrong in (b"", bytes(200) + content[200:]):
        victim(cache).write_bytes(wrong)
        cache.repair().run()
        assert cache.same()


def test_chosen_samples_are_encoded_again_whatever_their_files_say(cache: Built) -> None:
    position = 3
    sample = latent_cache.parse_manifest(cache.cache)["splits"]["train"][position]
    layout, array = LAYOUTS[cache.config.cache.layout], repair_array(cache)
    layout.write(cache.cache, array, position, torch.full(array.sample_shape, 7.0).numpy())
    assert not cache.same()
    assert cache.repair().damage.kept == {}
    repair = cache.repair(sample)
    assert repair.damage.samples == 1
    repair.run()
    assert cache.same()


def test_a_sample_that_is_in_no_split_is_refused(cache: Built) -> None:
    with pytest.raises(ConfigError, match=r"sample 99 is in no split of the cache"):
        cache.repair(1, 99)


def test_a_cache_of_another_encoder_is_not_repaired(cache: Built) -> None:
    victim(cache).unlink()
    state, material = trained_material(cache.config)
    name, *_ = state
    with pytest.raises(DataError, match="belongs to another configuration: encoder is") as refused:
        Repair(cache.config, material, state | {name: state[name] + 1})
    assert refused.value.hint == "ups cache build CONFIG --rebuild"
    assert not victim(cache).exists()


def test_without_room_nothing_is_changed(cache: Built, monkeypatch: pytest.MonkeyPatch) -> None:
    os.truncate(victim(cache), 100)
    monkeypatch.setattr(latent_cache, "SPARE_BYTES", 1 << 60)  # more than any disk has
    with pytest.raises(UpsError, match=r"needs \d+\.\d MB in .*, \d+\.\d MB are free .*; nothing was changed"):
        cache.repair().run()
    assert victim(cache).stat().st_size == 100
    assert not list(cache.cache.parent.glob("*.repairing"))


def test_the_command_says_what_and_how_long_before_it_repairs(cache: Built) -> None:
    if cache.config.cache.layout != "npy":
        pytest.skip("said alike for every layout")
    os.truncate(victim(cache), 200)
    shown = ups("cache", "repair", cache.path, "--dry-run")
    first, second = shown.stdout.splitlines()
    assert (shown.returncode, first) == (1, f"1 of 2 files in {cache.cache} are made again: train_u.npy")
    assert second.startswith("encoding 8 samples on cpu takes about 0.")
    assert victim(cache).stat().st_size == 200
    done = ups("cache", "repair", cache.path)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (
        0,
        "repaired: all 2 files are as the manifest says",
    )
    assert cache.same()
    again = ups("cache", "repair", cache.path, "--dry-run")
    assert (again.returncode, again.stdout) == (
        0,
        f"nothing to repair: 2 files in {cache.cache} are as the manifest says\n",
    )
    wrong = ups("cache", "repair", cache.path, "--samples", "1,x")
    assert (wrong.returncode, "'1,x' is no list of numbers such as 3,17" in wrong.stderr) == (2, True)


def test_a_tagged_file_is_left_to_fix_cache(cache: Built) -> None:
    if cache.config.cache.layout != "pt":
        pytest.skip("only .pt files carry tags")
    tag(torch.load(victim(cache), weights_only=True), "cuda:0", victim(cache))
    manifest = json.loads((cache.cache / "manifest.json").read_text())
    manifest["files"][victim(cache).name] = victim(cache).stat().st_size
    (cache.cache / "manifest.json").write_text(json.dumps(manifest))
    refused = ups("cache", "repair", cache.path)
    assert refused.returncode == 1
    assert refused.stderr.splitlines()[-1] == f"  ups-doctor fix-cache {cache.cache}"


KILLED = """
import os, sys
from pathlib import Path
from ups import cache_repair
from ups.config import load_config
from ups.trained import trained_material
real, left = Path.replace, [int(sys.argv[2])]
def replace(path, target):
    left[0] -= 1
    if left[0] < 0: os.kill(os.getpid(), 9)
    return real(path, target)
Path.replace = replace
config = load_config(Path(sys.argv[1]))
state, material = trained_material(config)
cache_repair.Repair(config, material, state).run()
"""


@pytest.mark.parametrize("renames", [0, 1])
def test_killed_between_its_files_it_goes_on_where_it_was(cache: Built, renames: int) -> None:
    if cache.config.cache.layout != "npy":
        pytest.skip("the files are put in their places alike for every layout")
    for name in ("train_u.npy", "validation_u.npy"):
        os.truncate(cache.cache / name, 200)
    assert python("-c", KILLED, cache.path, str(renames), env=clean_environment()).returncode == -9
    assert [path.stat().st_size == 200 for path in sorted(cache.cache.glob("*.npy"))].count(False) == renames
    cache.repair().run()
    assert cache.same()
    assert not list(cache.cache.parent.glob("*.repairing"))

"""Encodes again only those samples of a latent cache whose files are missing, cut off or damaged.

Each damaged file is made anew beside the cache, with the samples that could be kept, and takes the old one's
place when it is whole and on disk: a kill at any moment leaves the old file or the new one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from diagnostics.api import Severity, scan
from ups.cache_build import encoded, expected_manifest
from ups.checkpoint import build_autoencoder, fill
from ups.config import UpsConfig
from ups.data import cache_guard, latent_cache
from ups.data.cache_folder import remove
from ups.data.cache_layouts import Array, Layout
from ups.data.cache_layouts.contract import Held
from ups.distributed import World, alone
from ups.errors import ConfigError, UpsError, from_os_error
from ups.run_folder import sync_folder
from ups.stages.material import Material

SHOWN = 5  # files named
PIECE_BYTES = 16 << 20  # copied at once
TAGGED = "cuda-in-cache"  # its bytes are right: ups-doctor fix-cache rewrites the tag alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """The files to be made again with the bytes of each that stay, and the positions of each array to be encoded."""

    kept: Mapping[str, int]
    positions: Mapping[str, Sequence[int]]

    @property
    def samples(self) -> int:
        """How many samples are encoded, each field for itself."""
        return sum(map(len, self.positions.values()))


class Repair:
    """The repair of one cache: what is damaged is known at once, `seconds` measures, `run` does it."""

    def __init__(
        self,
        config: UpsConfig,
        material: Material,
        state: Mapping[str, torch.Tensor],
        *,
        samples: Sequence[int] = (),
        device: str = "cpu",
    ) -> None:
        """`samples` are encoded again whatever their files say. Raises DataError for a cache of another encoder."""
        self.folder, self.material = config.cache_dir, material
        self.expected = expected_manifest(config, material, state)
        self.manifest = latent_cache.check_made_alike(self.folder, self.expected)
        self.layout, self.arrays = latent_cache.layout_of(self.manifest)
        self.world: World = replace(alone(), device=torch.device(device))
        self.model = build_autoencoder(config, material.spec)
        fill(self.model, state, "autoencoder")
        self.model = self.model.to(self.world.device).eval()
        self.damage = find_damage(self.folder, self.manifest, self._chosen(samples))

    def _chosen(self, samples: Sequence[int]) -> dict[str, list[int]]:
        splits: dict[str, list[int]] = self.manifest["splits"]
        known = {sample for numbers in splits.values() for sample in numbers}
        if unknown := sorted({*samples} - known):
            raise ConfigError(
                f"sample {unknown[0]} is in no split of the cache {self.folder}",
                hint="samples are counted as in the data file, from 0",
            )
        return {
            latent_cache.array_name(split, field): [at for at, number in enumerate(numbers) if number in {*samples}]
            for split, numbers in splits.items()
            for field in self.material.spec.fields
        }

    def seconds(self) -> float:
        """Returns how long encoding will take, from one sample that is encoded for it."""
        if not self.damage.samples:
            return 0.0
        name, position = next((name, positions[0]) for name, positions in self.damage.positions.items() if positions)
        self._encoded(name, position)  # the first one also pays for what is made once
        began = time.perf_counter()
        self._encoded(name, position)
        return (time.perf_counter() - began) * self.damage.samples

    def lines(self, seconds: float) -> list[str]:
        """Returns what is damaged and how long the repair will take, for people."""
        files, kept = self.manifest["files"], self.damage.kept
        if not kept:
            return [f"nothing to repair: {len(files)} files in {self.folder} are as the manifest says"]
        shown = ", ".join(list(kept)[:SHOWN]) + (f" and {len(kept) - SHOWN} more" if len(kept) > SHOWN else "")
        count = self.damage.samples
        return [
            f"{len(kept)} of {len(files)} files in {self.folder} are made again: {shown}",
            f"encoding {count} sample{'s' * (count != 1)} on {self.world.device} takes about {in_words(seconds)}, "
            f"by the time of one; the encoder is the manifest's, {self.manifest['encoder'][:12]}",
        ]

    def run(self, done: Callable[[int], None] = lambda samples: None) -> None:
        """Makes the damaged files again; `done` is told how many samples are encoded.

        Raises UpsError before the first change where the disk has not the room, CacheRefusedError where files
        are left that no repair of ours makes right.
        """
        if self.damage.kept:
            self._rebuild(done)
        cache_guard.examine(self.folder, self.expected)

    def _rebuild(self, done: Callable[[int], None]) -> None:
        temporary = self.folder.with_name(self.folder.name + ".repairing")
        try:
            remove(temporary)
            _refuse_without_room(self.folder, sum(self.manifest["files"][name] for name in self.damage.kept))
            temporary.mkdir()
            self._fill(temporary, done)
            for name in self.damage.kept:
                latent_cache.synced(temporary / name)
                (temporary / name).replace(self.folder / name)
            sync_folder(self.folder)
        except OSError as error:
            raise from_os_error(error, action="cannot repair the latent cache", path=self.folder) from error
        finally:
            remove(temporary)

    def _fill(self, temporary: Path, done: Callable[[int], None]) -> None:
        for name, size in self.damage.kept.items():
            latent_cache.preallocate(temporary / name, self.manifest["files"][name])
            _copy_start(self.folder / name, temporary / name, size)
        count = 0
        for name, positions in self.damage.positions.items():
            self.layout.begin(temporary, self.arrays[name])
            for position in positions:
                self.layout.write(temporary, self.arrays[name], position, self._encoded(name, position))
                count += 1
                done(count)

    def _encoded(self, name: str, position: int) -> np.ndarray:
        fields = self.material.spec.fields
        split, field = next(
            (split, field)
            for split in self.manifest["splits"]
            for field in range(len(fields))
            if latent_cache.array_name(split, fields[field]) == name
        )
        sample = int(self.manifest["splits"][split][position])
        return encoded(self.material, self.model, self.world, sample, field)


def in_words(seconds: float) -> str:
    """Returns a length of time for people."""
    if seconds < 90:
        return f"{max(seconds, 0.1):.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def find_damage(folder: Path, manifest: Mapping[str, Any], chosen: Mapping[str, Sequence[int]]) -> Damage:
    """Returns which of the manifest's files must be made again; `chosen` positions are damaged by definition."""
    layout, arrays = latent_cache.layout_of(manifest)
    broken = _broken_files(folder)
    kept: dict[str, int] = {}
    positions: dict[str, list[int]] = {}
    for array in arrays.values():
        bad, lost = _array_damage(folder, layout, array, manifest["files"], broken, {*chosen.get(array.name, ())})
        if bad:
            kept |= bad
            positions[array.name] = lost
    return Damage(kept=kept, positions=positions)


def _broken_files(folder: Path) -> set[str]:
    """Returns the names of the files that a scan refuses, though their size may be right."""
    found = _Names(folder)
    scan([folder], observer=found)
    return found.names


class _Names:
    """Collects the files with errors other than a device's tag."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.names = folder, set[str]()

    def scanned(self, files: int, bad: int) -> None:
        """Shows nothing."""

    def found(self, scan: Any) -> None:
        """Keeps the name of a file that cannot be read rightly."""
        if any(problem.severity is Severity.ERROR and problem.name != TAGGED for problem in scan.problems):
            self.names.add(os.path.relpath(scan.path, self._folder))


def _array_damage(
    folder: Path, layout: Layout, array: Array, sizes: Mapping[str, int], broken: set[str], chosen: set[int]
) -> tuple[dict[str, int], list[int]]:
    """Returns the files of one array to be made again with the bytes that stay of each, and the positions lost."""
    bad: dict[str, int] = {}
    lost = set(chosen)
    held = layout.holds(array)
    for name, one in held.items():
        good, stop = _good_samples(folder / name, one, array, sizes[name], name in broken)
        if not good or any(one.first <= position < one.stop for position in chosen):
            bad[name] = len(one.head or b"") + (stop - one.first) * array.sample_bytes if stop > one.first else 0
            lost.update(range(stop, one.stop))
    if bad:  # an index is written with any of its shards
        bad |= {name: 0 for name, one in held.items() if one.first == one.stop}
    return bad, sorted(lost)


def _good_samples(path: Path, held: Held, array: Array, size: int, broken: bool) -> tuple[bool, int]:
    """Returns whether a file is right, and the position up to which its samples are: all, those before a cut, none."""
    try:
        found = path.stat().st_size
        with path.open("rb") as file:
            begins = file.read(len(held.head or b"")) == (held.head or b"")
    except OSError:
        return False, held.first
    if held.head is None:
        right = found == size and not broken
        return right, held.stop if right else held.first
    if found > size or not begins:
        return False, held.first
    whole = (found - len(held.head)) // max(1, array.sample_bytes)
    return found == size, min(held.stop, held.first + whole)


def _copy_start(source: Path, target: Path, size: int) -> None:
    """Puts the first bytes of a damaged file into the new one."""
    if not size:
        return
    with source.open("rb") as old, target.open("r+b") as new:
        while size and (piece := old.read(min(size, PIECE_BYTES))):
            new.write(piece)
            size -= len(piece)


def _refuse_without_room(folder: Path, needed: int) -> None:
    disk = os.statvfs(folder)
    free = disk.f_bavail * disk.f_frsize
    if free < needed + latent_cache.SPARE_BYTES:
        raise UpsError(
            f"repairing the latent cache needs {needed / 1e6:.1f} MB in {folder.parent}, {free / 1e6:.1f} MB are free "
            f"and {latent_cache.SPARE_BYTES / 1e6:.0f} MB stay so; nothing was changed",
            hint=f"free some space (df -h {folder}), or build the cache on another disk with cache.dir",
        )

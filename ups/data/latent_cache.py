"""Latents on disk: encoded once, read by any number of workers, refused when they are not the encoder's.

In `cache_dir`: manifest.json, and for the splits train and validation one array a field of shape (samples, frames,
S, D) in the files of one of ups.data.cache_layouts. Always CPU arrays: what says on which device a tensor was is
never written by us, and refused where another program wrote it.

Shapes: S tokens, D latent channels.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset

from ups.config import UpsConfig
from ups.data.cache_folder import MANIFEST, remove
from ups.data.cache_layouts import LAYOUTS, Array, Layout, Source
from ups.data.fields import FieldSpec
from ups.data.normalisation import Normalisation
from ups.data.pairing import Pairing
from ups.errors import DataError, UpsError, from_os_error

FORMAT = 2
SPLITS = ("train", "validation")
REBUILD = "ups cache build CONFIG --rebuild"
REPAIR = "ups cache repair CONFIG   # encodes again only what is missing"
SPARE_BYTES = 64 << 20  # left free on the cache's disk, for what else a run writes there


class LatentPairDataset(Dataset[dict[str, Any]]):
    """The pairs of PairDataset as latents, in the same order: {"z_in", "z_out": (S, D), "cond": (3,), ...}.

    What it has ahead of them is "z_later", (R, S, D).

    Files are opened in the process that reads, and mapped, so workers share one copy in the page cache.
    """

    def __init__(self, folder: Path, split: str, spec: FieldSpec, pairing: Pairing | None = None) -> None:
        manifest = read_manifest(folder)
        self.folder, self.spec = folder, spec
        self.layout, self.arrays = manifest["layout"], _arrays(manifest)
        self._split = split
        self.samples = manifest["splits"][split]
        self.pairing = pairing or Pairing(spec.frames)
        self._sample_numbers = np.asarray(self.samples, dtype=np.int64)
        self._log_parameter = float(np.log10(max(abs(spec.parameter), 1e-30)))
        self._open: dict[str, Source] = {}

    def __len__(self) -> int:
        return len(self.samples) * len(self.pairing)

    def __getitem__(self, index: int) -> dict[str, Any]:
        one = self.batch([index])
        return {name: int(values) if name in ("sample", "frame") else values[0] for name, values in one.items()}

    def batch(self, indices: Sequence[int]) -> dict[str, torch.Tensor]:
        """Returns the items stacked: one copy out of the page cache for each array, whatever the batch size."""
        index_B = np.asarray(indices)
        if index_B.min() < 0 or index_B.max() >= len(self):
            raise IndexError(f"item {index_B.min()} to {index_B.max()} of {len(self)}")
        position_B, item_B = np.divmod(index_B, len(self.pairing))
        z_in, z_out, *later = self._fields(position_B, item_B)
        cond_BRK = torch.from_numpy(self._conditions(item_B))
        found = {
            "z_in": z_in,
            "z_out": z_out,
            "cond": cond_BRK[:, 0],
            "sample": torch.from_numpy(self._sample_numbers[position_B]),
            "frame": torch.from_numpy(self.pairing.start_N[item_B]),
        }
        if later:
            known = torch.from_numpy(self.pairing.known(item_B))
            found |= {"z_later": torch.stack(later, dim=1), "cond_later": cond_BRK[:, 1:], "known": known}
        return found

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_open": {}}

    def _fields(self, position_B: np.ndarray, item_B: np.ndarray) -> Sequence[torch.Tensor]:
        if self.spec.kind == "steady":
            return [self._source(field).take(position_B, item_B[None])[0] for field in self.spec.fields]
        (field,) = self.spec.fields
        return self._source(field).take(position_B, self.pairing.places(item_B).T).unbind(0)

    def _conditions(self, item_B: np.ndarray) -> np.ndarray:
        if self.spec.kind == "steady":
            steady = np.array([0.0, 0.0, self._log_parameter], dtype=np.float32)
            return np.tile(steady, (len(item_B), 1, 1))
        return self.pairing.conditions(np.asarray(self.spec.times), self._log_parameter, item_B)

    def _source(self, field: str) -> Source:
        if field not in self._open:
            array = self.arrays[array_name(self._split, field)]
            self._open[field] = LAYOUTS[self.layout].open(self.folder, array)
        return self._open[field]


def array_name(split: str, field: str) -> str:
    """Returns the name of one field of one split."""
    return f"{split}_{field}"


def layout_of(manifest: Mapping[str, Any]) -> tuple[Layout, dict[str, Array]]:
    """Returns how a cache lies on disk, and its arrays by name."""
    return LAYOUTS[manifest["layout"]], _arrays(manifest)


def _arrays(manifest: Mapping[str, Any]) -> dict[str, Array]:
    return {
        name: Array(name=name, shape=tuple(shape), dtype=manifest["dtype"])
        for name, shape in manifest["shapes"].items()
    }


def encoder_hash(state: Mapping[str, torch.Tensor]) -> str:
    """Returns the sha256 over names, types, shapes and bytes of the autoencoder's weights."""
    digest = hashlib.sha256()
    for name, value in sorted(state.items()):
        tensor = value.detach().cpu().contiguous()
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def expected_manifest(
    config: UpsConfig,
    spec: FieldSpec,
    normalisation: Normalisation,
    splits: Mapping[str, np.ndarray],
    state: Mapping[str, torch.Tensor],
    latent_shape: tuple[int, int],
) -> dict[str, Any]:
    """Returns all that the latents depend on, and the files they make; a cache with another one is refused."""
    shapes = {
        array_name(split, field): [len(splits[split]), spec.frames, *latent_shape]
        for split in SPLITS
        for field in spec.fields
    }
    file = spec.path.stat()
    return {
        "format": FORMAT,
        "layout": config.cache.layout,
        "task": spec.task,
        "data": {"file": spec.path.name, "bytes": file.st_size, "modified_ns": file.st_mtime_ns},
        "time_stride": spec.time_stride,
        "space_stride": spec.space_stride,
        "normalisation": normalisation.digest(),
        "encoder": encoder_hash(state),
        "dtype": config.cache.dtype,
        "splits": {split: [int(sample) for sample in splits[split]] for split in SPLITS},
        "shapes": shapes,
    }


def read_manifest(folder: Path) -> dict[str, Any]:
    """Returns the manifest of a cache. Raises DataError where there is none, or files are not what it says."""
    manifest = parse_manifest(folder)
    check_sizes(folder, manifest)
    return manifest


def parse_manifest(folder: Path) -> dict[str, Any]:
    """Returns the manifest of a cache, whatever its files are. Raises DataError where there is none."""
    path = folder / MANIFEST
    try:
        manifest: dict[str, Any] = _in_this_format(json.loads(path.read_text(encoding="utf-8")))
        files: dict[str, int] = manifest["files"]
        if not all(isinstance(size, int) for size in files.values()):
            raise TypeError("'files' must give a size in bytes for each name")
    except FileNotFoundError as error:
        raise DataError(f"{folder} holds no latent cache: {MANIFEST} is not there", hint=REBUILD) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DataError(f"{path} is not the manifest of a latent cache: {error}", hint=REBUILD) from error
    return manifest


def _in_this_format(manifest: dict[str, Any]) -> dict[str, Any]:
    """Returns the manifest, one of format 1 as format 2 would say it; the files were the same."""
    if manifest.get("format") == 1:
        shapes = {name.removesuffix(".npy"): shape for name, shape in manifest["shapes"].items()}
        return manifest | {"format": FORMAT, "layout": "npy", "shapes": shapes}
    if manifest["layout"] not in LAYOUTS:
        raise ValueError(f"layout {manifest['layout']!r} is not one of {', '.join(LAYOUTS)}")
    return manifest


def check_sizes(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Raises DataError naming the first file whose size is not the manifest's, and how many there are."""
    wrong = [name for name, size in manifest["files"].items() if _size(folder / name) != size]
    if wrong:
        first, found = wrong[0], _size(folder / wrong[0])
        seen = "is missing" if found is None else f"has {found} bytes, not {manifest['files'][first]}"
        others = f", and {len(wrong) - 1} other files of {len(manifest['files'])} are damaged" if wrong[1:] else ""
        raise DataError(f"the latent cache {folder} is damaged: {first} {seen}{others}", hint=REPAIR)


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def check(folder: Path, expected: Mapping[str, Any]) -> None:
    """Raises DataError saying in what the cache in `folder` differs from what is expected of it, or is damaged."""
    check_sizes(folder, check_made_alike(folder, expected))


def check_made_alike(folder: Path, expected: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the manifest, whatever the files are. Raises DataError saying in what it differs from `expected`."""
    found = parse_manifest(folder)
    different = [
        f"{key} is {_short(found.get(key))}, {_short(value)} is needed"
        for key, value in expected.items()
        if key != "layout" and found.get(key) != value  # a cache of another layout is as good
    ]
    if different:
        raise DataError(
            f"the latent cache {folder} belongs to another configuration: {'; '.join(different)}", hint=REBUILD
        )
    return found


def reserve(folder: Path, expected: Mapping[str, Any]) -> Path:
    """Makes a temporary folder beside `folder` with all arrays in full size; returns it.

    Raises UpsError before a byte is written where the disk has not the room.
    """
    layout, arrays = layout_of(expected)
    files = {name: size for array in arrays.values() for name, size in layout.files(array).items()}
    needed = sum(files.values())
    temporary = folder.with_name(folder.name + ".building")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        remove(temporary)
        disk = os.statvfs(folder.parent)
        free = disk.f_bavail * disk.f_frsize
        if free < needed + SPARE_BYTES:
            raise UpsError(
                f"the latent cache needs {needed / 1e6:.1f} MB in {folder.parent}, {free / 1e6:.1f} MB are free "
                f"and {SPARE_BYTES / 1e6:.0f} MB stay so",
                hint="set cache.dir to another disk, cache.dtype=float16, or cache.enabled=false",
            )
        temporary.mkdir()
        for name, size in files.items():
            preallocate(temporary / name, size)
        for array in arrays.values():
            layout.begin(temporary, array)
    except OSError as error:
        remove(temporary)
        raise from_os_error(error, action="cannot write the latent cache", path=folder) from error
    return temporary


def publish(temporary: Path, folder: Path, expected: Mapping[str, Any]) -> None:
    """Puts a complete cache in its place; the manifest is written last, and an old cache goes only now."""
    layout, arrays = layout_of(expected)
    try:
        files = {name: synced(temporary / name) for array in arrays.values() for name in layout.files(array)}
        (temporary / MANIFEST).write_text(json.dumps({**expected, "files": files}, indent=1) + "\n", encoding="utf-8")
        remove(folder)
        temporary.rename(folder)
    except OSError as error:
        raise from_os_error(error, action="cannot write the latent cache", path=folder) from error


def preallocate(path: Path, size: int) -> None:
    """Makes a file of that size."""
    # Reserved, not sparse: a disk that is full must say so now, and not after hours of encoding.
    with path.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, size)


def synced(path: Path) -> int:
    """Returns the size of a file whose bytes are on disk: a manifest must never promise more than is there."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        return os.fstat(file.fileno()).st_size


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 70 else f"{text[:50]}... ({len(text)} characters)"

"""Mutated files of the formats without device tags: always an answer."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from safetensors.numpy import save_file

from diagnostics.cache.archives.zip_directory import deep
from diagnostics.cache.file_bytes import FileBytes
from diagnostics.cache.scan.one_file import scan_file

ARRAYS = {"latent": np.zeros((4, 3), np.float16), "index": np.arange(5)}
RECORD = np.zeros(3, dtype=[("a", "<f4"), ("b", [("c", "i1"), ("d", "<U3")]), ("e", "<f8", (2, 3))])
SPLINTERS = (
    b"9" * 30,
    b"[" * 20,
    b"(",
    b"{'a':",
    b"\\ud800",
    b"O",
    b"-",
    b"1e999",
    b"NaN",
    b"L,",
    b"\xff" * 4,
    b"\0" * 4,
)


def as_hdf5(path: Path) -> None:
    with h5py.File(path, "w", libver="latest") as file:
        file["u"] = np.zeros(10)


WRITERS: dict[str, Callable[[Path], None]] = {
    "record.npy": lambda path: np.save(path, RECORD),
    "stored.npz": lambda path: np.savez(path, **ARRAYS),
    "deflated.npz": lambda path: np.savez_compressed(path, **ARRAYS),
    "sample.safetensors": lambda path: save_file(ARRAYS, path),
    "solutions.h5": as_hdf5,
}


def mutated(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        at = rng.randrange(min(len(changed), 400) or 1)
        match rng.randrange(5):
            case 0 | 1:
                changed[at : at + 1] = bytes([rng.randrange(256)])
            case 2:
                del changed[at : at + rng.randrange(1, 40)]
            case 3:
                changed[at : at + 4] = rng.choice(SPLINTERS)
            case _:
                changed[at:at] = rng.choice(SPLINTERS)
    return bytes(changed)


@pytest.mark.parametrize("name", WRITERS)
def test_mutated_files_are_scanned_and_read_through_to_an_answer(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    WRITERS[name](path)
    whole = path.read_bytes()
    for seed in range(300):
        path.write_bytes(mutated(whole, random.Random(seed)))
        scan = scan_file(str(path))
        assert scan.format, seed  # its name promises a format: it is never passed over in silence
        str(scan).encode()  # nothing in it that cannot be shown
        with FileBytes(str(path)) as file:
            deep(file, scan)

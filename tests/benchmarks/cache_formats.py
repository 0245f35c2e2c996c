"""Layouts of the latent cache against each other: random reads by the trainer's own loader, cold and warm.

    python tests/benchmarks/cache_formats.py [--scale 1] [--rounds 3] [--workers 0 2 4 8] [--folder DIR] [--output F]

One array of 20 frames of 256 tokens of 32 channels a sample; 48 samples at --scale 1, 31 MB as fp32, and
--scale times that. An item is a pair of frames, as the operator reads it, in batches of 32, in random order.

`cold`: the files were written, synced, and dropped from the page cache by posix_fadvise(DONTNEED) while nobody
had them mapped; `cold_resident` is the share of pages that were still there (mincore). What lies below the
kernel (the cache of a virtual disk's host) stays warm. `warm`: the same epoch again. Workers are running
before the clock starts. Medians over the rounds; rounds take turns over the layouts. `best_` is the fastest
round, which says more than the median where other programs want the cores too.

`cpu_us_per_batch` is the CPU time of putting one warm batch together in the process itself, the least of 15 turns:
other programs and the hand-over from worker to trainer do not show in it.

Memory: `worker_uss_mb` is what one worker has for itself alone, `worker_pss_mb` includes its share of pages that
are common (largest worker each); `shm_peak_mb` is what /dev/shm held more than before, after each batch.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import mmap
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import torch
from torch.utils.data import Dataset

from ups.config import TrainingConfig
from ups.data.cache_layouts import LAYOUTS, Array, Source
from ups.data.loaders import batches, loader

FRAMES, TOKENS, CHANNELS, BATCH = 20, 256, 32, 32
SAMPLES = 48


class Pairs(Dataset[dict[str, Any]]):
    """Pairs of one array; items below 0 come from a tiny array, so that workers run before the clock does."""

    def __init__(self, layout: str, folder: Path, array: Array, tiny: Array) -> None:
        self.layout, self.folder, self.arrays = layout, folder, {False: array, True: tiny}
        self._open: dict[bool, Source] = {}

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_open": {}}

    def batch(self, indices: list[int]) -> dict[str, torch.Tensor]:
        tiny = indices[0] < 0
        if tiny not in self._open:
            self._open[tiny] = LAYOUTS[self.layout].open(self.folder, self.arrays[tiny])
        position_B, frame_B = np.divmod(np.abs(np.asarray(indices)) - tiny, FRAMES - 1)
        z_in, z_out = self._open[tiny].take(position_B, np.stack([frame_B, frame_B + 1]))
        return {"z_in": z_in, "z_out": z_out}


class Order:
    """The batch sampler: what the next epoch reads."""

    def __init__(self) -> None:
        self.seed, self.rank, self.world_size, self.global_batch = 0, 0, 1, BATCH
        self.batches: list[list[tuple[int, float]]] = []

    def __iter__(self) -> Iterator[list[tuple[int, float]]]:
        return iter(self.batches)

    def __len__(self) -> int:
        return len(self.batches)

    def wake(self, workers: int) -> None:
        self.batches = [[(-1, 1.0)]] * max(1, 4 * workers)

    def shuffled(self, samples: int, seed: int) -> None:
        order = np.random.default_rng(seed).permutation(samples * (FRAMES - 1)).tolist()
        self.batches = [[(index, 1.0) for index in order[at : at + BATCH]] for at in range(0, len(order), BATCH)]


def write(layout: str, folder: Path, array: Array) -> float:
    """Writes an array as a run does; returns its seconds, the sync to disk included."""
    values = np.random.default_rng(0).standard_normal(array.sample_shape).astype(array.dtype)
    began = time.perf_counter()
    for name, size in LAYOUTS[layout].files(array).items():
        with (folder / name).open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, size)
    LAYOUTS[layout].begin(folder, array)
    for position in range(array.shape[0]):
        LAYOUTS[layout].write(folder, array, position, values + np.asarray(position, array.dtype))
    for name in LAYOUTS[layout].files(array):
        with (folder / name).open("rb") as file:
            os.fsync(file.fileno())
    return time.perf_counter() - began


def evict(folder: Path) -> float:
    """Drops a folder's files from the page cache; returns the share of their pages that stayed."""
    there = total = 0
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        pages = resident(path)
        there, total = there + sum(pages), total + len(pages)
    return there / total


def resident(path: Path) -> list[int]:
    """Returns 1 for each page of a file that is in the page cache."""
    libc = ctypes.CDLL(None, use_errno=True)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE) as m:
        answer = (ctypes.c_ubyte * -(-len(m) // mmap.PAGESIZE))()
        place = (ctypes.c_char * len(m)).from_buffer(m)
        done = libc.mincore(ctypes.c_void_p(ctypes.addressof(place)), ctypes.c_size_t(len(m)), answer)
        del place
    if done:
        raise OSError(ctypes.get_errno(), "mincore")
    return [page & 1 for page in answer]


def shm_used() -> int:
    disk = os.statvfs("/dev/shm")  # noqa: S108 - only looked at
    return (disk.f_blocks - disk.f_bfree) * disk.f_frsize


def epoch(source: Any, before: int = 0) -> tuple[float, int]:
    """Returns the seconds of one epoch and the most of /dev/shm that was in use beyond `before`."""
    peak, began, total = 0, time.perf_counter(), torch.zeros(())
    for batch in batches(source):
        total += batch["z_in"][0, 0, 0] + batch["z_out"][0, 0, 0]
        peak = max(peak, shm_used() - before)
    return time.perf_counter() - began, peak


def cpu_us(root: Path, array: Array) -> dict[str, float]:
    """Returns the CPU time of one warm batch for each layout, in microseconds."""
    random, turns = np.random.default_rng(1), 8
    sources = {layout: LAYOUTS[layout].open(root / layout, array) for layout in LAYOUTS}
    least = dict.fromkeys(LAYOUTS, float("inf"))
    for _ in range(15):
        for layout in random.permutation(list(LAYOUTS)).tolist():
            began = 0.0
            for number in range(turns + 1):
                if number == 1:  # the first turn brought this layout's pages and code back
                    began = time.thread_time()
                position_B, frame_B = random.integers(0, array.shape[0], BATCH), random.integers(0, FRAMES - 1, BATCH)
                sources[layout].take(position_B, np.stack([frame_B, frame_B + 1]))
            least[layout] = min(least[layout], (time.thread_time() - began) / turns * 1e6)
    return least


def measured(layout: str, folder: Path, array: Array, tiny: Array, workers: int, seed: int) -> dict[str, float]:
    """Returns one round of one layout: cold, then warm."""
    order, before = Order(), shm_used()
    source: Any = loader(
        Pairs(layout, folder, array, tiny),
        order,
        TrainingConfig(workers=workers, prefetch=2),  # type: ignore[arg-type]
    )
    order.wake(workers)
    epoch(source)
    order.shuffled(array.shape[0], seed)
    stayed = evict(folder)
    cold_s, _ = epoch(source)
    warm_s, peak = epoch(source, before)
    memory = [psutil.Process(one.pid).memory_full_info() for one in multiprocessing.active_children()]
    return {
        "cold_s": cold_s,
        "warm_s": warm_s,
        "cold_resident": stayed,
        "shm_peak_mb": peak / 1e6,
        "worker_uss_mb": max((one.uss for one in memory), default=0) / 1e6,
        "worker_pss_mb": max((one.pss for one in memory), default=0) / 1e6,
    }


def compare(options: argparse.Namespace, dtype: str, root: Path) -> list[dict[str, Any]]:
    """Returns a row for each layout and number of workers."""
    array = Array(name="train_u", shape=(SAMPLES * options.scale, FRAMES, TOKENS, CHANNELS), dtype=dtype)
    tiny = Array(name="validation_u", shape=(1, FRAMES, 1, 1), dtype=dtype)
    written: dict[str, float] = {}
    for layout in LAYOUTS:
        (root / layout).mkdir(parents=True)
        write(layout, root / layout, tiny)
        written[layout] = write(layout, root / layout, array)
    cpu = cpu_us(root, array)
    pairs = array.shape[0] * (FRAMES - 1)
    megabytes = pairs * 2 * array.sample_bytes / FRAMES / 1e6
    rows = []
    for workers in options.workers:
        rounds: dict[str, list[dict[str, float]]] = {layout: [] for layout in LAYOUTS}
        for number in range(options.rounds):
            for layout in list(LAYOUTS)[:: 1 if number % 2 else -1]:
                rounds[layout].append(measured(layout, root / layout, array, tiny, workers, number))
        for layout, found in rounds.items():
            middle = {key: statistics.median(one[key] for one in found) for key in found[0]}
            rates = {f"{kind}_samples_per_s": pairs / middle[f"{kind}_s"] for kind in ("cold", "warm")}
            mb = {f"{kind}_mb_per_s": megabytes / middle[f"{kind}_s"] for kind in ("cold", "warm")}
            best = {
                f"best_{kind}_samples_per_s": pairs / min(one[f"{kind}_s"] for one in found)
                for kind in ("cold", "warm")
            }
            row = {
                "layout": layout,
                "dtype": dtype,
                "workers": workers,
                "write_s": written[layout],
                "cpu_us_per_batch": cpu[layout],
            }
            rows.append({**row, **rates, **best, **mb, **middle})
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    """Returns pairs a second, one line for each number of workers and type, cold/warm for each layout."""
    lines = [f"{'type':<8} {'workers':>7}  " + "".join(f"{name + ' cold/warm':>24}" for name in LAYOUTS)]
    for dtype, workers in dict.fromkeys((row["dtype"], row["workers"]) for row in rows):
        cells = [row for row in rows if (row["dtype"], row["workers"]) == (dtype, workers)]
        shown = (f"{one['cold_samples_per_s']:.0f} / {one['warm_samples_per_s']:.0f}" for one in cells)
        lines.append(f"{dtype:<8} {workers:>7}  " + "".join(f"{text:>24}" for text in shown))
        if not workers:
            cpu = (f"{one['cpu_us_per_batch']:.0f} us" for one in cells)
            lines.append(f"{dtype:<8} {'CPU':>7}  " + "".join(f"{text:>24}" for text in cpu))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, nargs="+", default=[0, 2, 4, 8])
    parser.add_argument("--dtype", nargs="+", default=["float32", "float16"], choices=["float32", "float16"])
    parser.add_argument("--folder", type=Path, help="a folder on the disk to be measured; default: a temporary one")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for dtype in options.dtype:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            rows += compare(options, dtype, Path(folder))
    answer = {
        "benchmark": "cache_formats",
        "array": {"samples": SAMPLES * options.scale, "frames": FRAMES, "tokens": TOKENS, "channels": CHANNELS},
        "batch": BATCH,
        "rounds": options.rounds,
        "cores": os.cpu_count(),
        "load_average_1min": os.getloadavg()[0],
        "torch": torch.__version__,
        "rows": rows,
    }
    print(json.dumps(answer, indent=2))
    print(table(rows))
    if options.output:
        options.output.write_text(json.dumps(answer, indent=2) + "\n")


if __name__ == "__main__":
    main()

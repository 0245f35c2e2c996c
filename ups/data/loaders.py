"""DataLoaders whose batches carry the weight of each sample, the same with and without workers."""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from multiprocessing.util import Finalize, get_temp_dir
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, default_collate, get_worker_info

from diagnostics.api import DoctorError
from ups.config import TrainingConfig
from ups.data.sampler import Entry, GlobalBatchSampler
from ups.errors import ConfigError, DataError
from ups.leftovers.removal import Removal

Batch = dict[str, torch.Tensor]
READ_BEFORE_GIVING_UP = 8  # samples
# What terminals, schedulers and launchers send to all processes of a group.
TO_A_GROUP = (signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM)
SHM = Path("/dev/shm")  # noqa: S108 - torch's workers hand their batches over there
# Where sockets may lie whose path would be too long below TMPDIR, as a scheduler's folder for a job often is.
SHORT_FOLDERS = ("/tmp", "/var/tmp", str(SHM))  # noqa: S108 - a folder of this user's alone is made in one of them
SOCKET_BYTES = 107  # of a socket's path, source: unix(7)
IN_FOLDER = "/pymp-12345678/listener-12345678"  # as multiprocessing calls them


@dataclass(frozen=True, slots=True)
class Refused:
    """What a worker gives instead of a batch it could not read.

    torch would raise the worker's exception again with its whole traceback as the message.
    """

    message: str
    hint: str


class Weighted(Dataset[Any]):
    """A dataset asked by (index, weight), whose items carry the weight.

    A dataset with a method `batch(indices)` is asked for whole batches.
    """

    def __init__(self, dataset: Dataset[dict[str, Any]]) -> None:
        self.dataset = dataset

    def __getitem__(self, entry: Entry) -> dict[str, Any] | Refused:
        index, weight = entry
        try:
            return {**self.dataset[index], "weight": torch.tensor(weight)}
        except DoctorError as error:
            if get_worker_info() is None:
                raise
            return Refused(error.message, error.hint)

    def __getitems__(self, entries: list[Entry]) -> list[Any] | Batch | Refused:
        """Returns the items of one batch, or the batch itself: torch's loader asks here first."""
        whole = getattr(self.dataset, "batch", None)
        if whole is None:
            return [self[entry] for entry in entries]
        try:
            batch: Batch = whole([index for index, _ in entries])
        except DoctorError as error:
            if get_worker_info() is None:
                raise
            return Refused(error.message, error.hint)
        return {**batch, "weight": torch.tensor([weight for _, weight in entries])}


def collate(items: list[Any] | Batch | Refused) -> Any:
    """Returns the items stacked, or the first of them that was refused; a batch stays as it is."""
    if not isinstance(items, list):
        return items
    return next((item for item in items if isinstance(item, Refused)), None) or default_collate(items)


def collate_arrays(items: list[Any] | Batch | Refused) -> Any:
    """Returns what `collate` does, its tensors as arrays: they go to the trainer through a pipe."""
    batch = collate(items)
    return batch if isinstance(batch, Refused) else {name: value.numpy() for name, value in batch.items()}


def batches(source: DataLoader[Any]) -> Iterator[Batch]:
    """Yields the batches of one epoch. Raises DataError for one that a worker could not read."""
    for batch in source:
        if isinstance(batch, Refused):
            raise DataError(batch.message, hint=batch.hint)
        yield {name: torch.as_tensor(value) for name, value in batch.items()}


def small_batch(source: DataLoader[Any]) -> Batch:
    """Returns a batch of the first sample that can be read, with weight 0, as the loader would make it.

    Raises DataError where none of the first few can be.
    """
    weighted, refused = source.dataset, None
    for index in range(min(READ_BEFORE_GIVING_UP, len(weighted.dataset))):  # type: ignore[attr-defined]
        try:
            batch = collate(weighted.__getitems__([(index, 0.0)]))  # type: ignore[attr-defined]
            return {name: torch.as_tensor(value) for name, value in batch.items()}
        except DataError as error:
            refused = error
    raise refused or DataError("there is no sample")


def loader(
    dataset: Dataset[dict[str, Any]], sampler: GlobalBatchSampler, config: TrainingConfig, *, pin: bool = False
) -> DataLoader[Any]:
    """Returns the DataLoader of this rank; items become dicts of tensors with "weight" (B,).

    Its own generator seeds the workers, so that making an iterator leaves the rank's random state alone.
    Workers hand batches over in /dev/shm, or, where it has not the room, through pipes: a little slower, but
    torch's loader waits for ever for a batch that found no room.
    """
    workers: dict[str, Any] = {}
    if config.workers:
        workers = {
            # Neither fork, which copies a process that has threads of gloo or CUDA in it, nor spawn, which
            # imports torch anew in each worker: one clean server imports it once and forks.
            "multiprocessing_context": _forkserver(),
            "persistent_workers": True,
            "prefetch_factor": config.prefetch,
            "worker_init_fn": _begin_worker,
        }
    generator = torch.Generator().manual_seed(sampler.seed * 1_000_003 + sampler.rank)
    return DataLoader(
        Weighted(dataset),
        batch_sampler=sampler,
        collate_fn=collate if fits_shm(dataset, sampler, config) else collate_arrays,
        num_workers=config.workers,
        pin_memory=pin,
        generator=generator,
        **workers,
    )


def fits_shm(dataset: Dataset[dict[str, Any]], sampler: GlobalBatchSampler, config: TrainingConfig) -> bool:
    """True where /dev/shm has the room for all batches that the workers of this machine's ranks have under way."""
    if not config.workers or not SHM.is_dir():
        return True
    whole = getattr(dataset, "batch", None)
    first: dict[str, Any] = whole([0]) if whole is not None else dataset[0]
    item = sum(torch.as_tensor(value).nbytes for value in first.values())
    batch = item * -(-sampler.global_batch // sampler.world_size)
    # A worker makes one more than it has ready, and the trainer still has the last one.
    needed = batch * (config.workers * (config.prefetch + 1) + 1) * int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    disk = os.statvfs(SHM)
    return needed < disk.f_bavail * disk.f_frsize


def _forkserver() -> Any:
    _tidied_after_us()
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch", "h5py", "ups.data.datasets", "ups.data.latent_cache"])
    return context


@cache
def _tidied_after_us() -> Removal:
    """Has what workers need in /dev/shm and the temporary folder removed however this rank ends.

    Its sockets lie in one folder, which workers that are made from now on share. Semaphores are removed by Python's
    tracker, which ignores SIGINT and SIGTERM only: any other signal to our process group would end it before us.
    """
    before = {one: signal.signal(one, signal.SIG_IGN) for one in TO_A_GROUP if _in_main_thread()}
    try:
        resource_tracker.ensure_running()
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
    removal = Removal(_folder_of_sockets())
    Finalize(None, removal.close, exitpriority=-200)  # after Python's own, which complains where the folder is gone
    return removal


def _folder_of_sockets() -> Path:
    """Returns the folder in which this process and its workers keep sockets; makes it where there is none yet.

    Raises ConfigError where no folder for temporary files has a path that is short enough.
    """
    given = tempfile.gettempdir()
    for folder in (given, *SHORT_FOLDERS):
        if len(os.fsencode(folder + IN_FOLDER)) <= SOCKET_BYTES and os.access(folder, os.W_OK | os.X_OK):
            break
    else:
        raise ConfigError(
            f"data workers talk over sockets, whose paths may have {SOCKET_BYTES} bytes: {given} is too long, and"
            f" {', '.join(SHORT_FOLDERS)} cannot be written",
            hint="TMPDIR=FOLDER with a shorter one; or training.workers=0",
        )
    before, tempfile.tempdir = tempfile.tempdir, folder
    try:
        return Path(get_temp_dir())
    finally:
        tempfile.tempdir = before


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()  # nobody else may say what a signal does


def _begin_worker(worker: int) -> None:
    # torch seeds its own generator by base seed + worker; numpy's global one would be alike in all of them.
    np.random.seed(torch.initial_seed() % 2**32)
    threading.Thread(target=_end_with_rank, daemon=True).start()


def _end_with_rank() -> None:
    # torch's workers watch their parent, which is the server, and the server waits for all of its children to let go
    # of a pipe: after kill -9 of the rank both would wait for ever, and their semaphores would stay in /dev/shm.
    rank = multiprocessing.parent_process()
    if rank is not None:
        wait([rank.sentinel])
        os._exit(1)

"""How long batches take to be made, and which part of it: reading and decoding of samples, or putting them together.

Each data worker adds up its own times in a row of its rank's area, which it shares since the fork; a process without
workers does the same for itself. A worker that was spawned tells nothing.
"""

from __future__ import annotations

import functools
import sys
from time import monotonic_ns, thread_time_ns

FETCH = "torch.utils.data._utils.fetch"


def watch(timings):
    """Wraps the fetching of batches."""
    module = sys.modules[FETCH]
    workers = sys.modules["torch"].utils.data.get_worker_info
    for name in ("_MapDatasetFetcher", "_IterableDatasetFetcher"):
        owner = getattr(module, name, None)
        if owner is not None:
            owner.fetch = _wrapped(owner.fetch, timings, workers)


class Collating:
    """What collate_fn of one fetcher took in its latest call; it stands in the place of that function."""

    def __init__(self, original):
        functools.update_wrapper(self, original, updated=())
        self._original = original
        self.wall = self.cpu = self.ended = 0

    def __call__(self, data):
        """Puts samples together as the original does."""
        began, cpu = monotonic_ns(), thread_time_ns()
        try:
            return self._original(data)
        finally:
            self.wall, self.cpu = monotonic_ns() - began, thread_time_ns() - cpu


def _wrapped(original, timings, workers):
    @functools.wraps(original)
    def fetch(self, possibly_batched_index):
        collating = vars(self).get("_ups_doctor_collating")
        if collating is None:
            collating = _begin(self)
        collating.wall = collating.cpu = 0
        began, cpu = monotonic_ns(), thread_time_ns()
        batch = original(self, possibly_batched_index)
        try:
            info, now = workers(), monotonic_ns()
            cycle = now - (collating.ended or began)
            collating.ended = now
            timings.fetched(
                info.id if info is not None else 0, now - began, thread_time_ns() - cpu, collating.wall, collating.cpu,
                cycle,
            )  # fmt: skip
        except Exception:
            pass  # the times of this batch are not told
        return batch

    return fetch


def _begin(fetcher):
    collating = Collating(getattr(fetcher, "collate_fn", None))
    try:
        if callable(getattr(fetcher, "collate_fn", None)):
            fetcher.collate_fn = collating
        fetcher._ups_doctor_collating = collating
    except Exception:
        pass  # a fetcher of the job's own that takes no attributes
    return collating

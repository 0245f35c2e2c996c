"""Shares that do not fit together, each padded to its own length: collated anew by the loader's own function.

The loop's own data set and collate function make the batch of one process from the samples of all ranks. That is asked
for only where they make each rank's share again, byte for byte, from the samples that the rank drew: data that are
drawn anew at each access, or another order, are no proof of anything.
"""

from __future__ import annotations

import random
import sys
import weakref
from collections import deque

from . import structures
from .structures import CannotJoinError

AHEAD = 4096  # indices that are kept of a loader which is read ahead


class Drawn:
    """Which samples each iterator over a loader has drawn, and not yet handed over; in order."""

    def __init__(self):
        self._waiting = weakref.WeakKeyDictionary()

    def note(self, iterator, indices):
        """The samples of one more batch were drawn."""
        if isinstance(indices, (list, tuple)):
            self._waiting.setdefault(iterator, deque(maxlen=AHEAD)).append(list(indices))

    def forget(self, iterator):
        """A pass begins anew: what an earlier one had drawn and left is of no batch."""
        self._waiting.pop(iterator, None)

    def of(self, iterator):
        """Returns the samples of the batch that was handed over, None where they are not known."""
        try:
            return self._waiting[iterator].popleft()
        except (KeyError, IndexError, TypeError):  # TypeError: an iterator that no weak reference can be made to
            return None


def collated(loader, shares, indices, cast):
    """Returns the batch that the loader makes of all ranks' samples. Raises CannotJoinError where it cannot be known.

    `indices` are those of each share, None where a rank could not tell them.
    """
    if None in indices or getattr(loader, "batch_sampler", None) is None or not hasattr(loader.dataset, "__getitem__"):
        raise CannotJoinError("which samples they are is not known")
    with _undisturbed():
        for share, drawn in zip(shares, indices):  # noqa: B905 - strict came with 3.10
            if not alike(cast(_fetched(loader, drawn)), share):
                raise CannotJoinError("the data set gives other values when it is read again")
        return cast(_fetched(loader, [one for drawn in indices for one in drawn]))


def _fetched(loader, indices):
    found = loader.dataset.__getitems__(indices) if hasattr(loader.dataset, "__getitems__") else None
    return loader.collate_fn(found if found is not None else [loader.dataset[index] for index in indices])


def alike(one, other):
    """Whether two batches have the same tensors, byte for byte, in the same places."""
    import torch

    mine, theirs = list(structures.leaves(one)), list(structures.leaves(other))
    return len(mine) == len(theirs) > 0 and all(
        path == at and a.dtype == b.dtype and a.shape == b.shape and torch.equal(a.cpu(), b.cpu())
        for (path, a), (at, b) in zip(mine, theirs)  # noqa: B905 - strict came with 3.10
    )


class _undisturbed:  # noqa: N801 - a context manager, used as a function is
    """Puts random generators back: reading the data again is no draw of the loop's."""

    def __enter__(self):
        import torch

        numpy = sys.modules.get("numpy")
        self._states = random.getstate(), torch.get_rng_state(), numpy.random.get_state() if numpy else None

    def __exit__(self, *error):
        import torch

        random.setstate(self._states[0])
        torch.set_rng_state(self._states[1])
        if self._states[2] is not None:
            sys.modules["numpy"].random.set_state(self._states[2])

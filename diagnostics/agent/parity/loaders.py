"""A script's loaders: each batch of a rank is kept, or one process gets those of all ranks joined.

A loader is known by its place in the order in which they are first iterated over, which is the script's own; some
frameworks make them anew for several ranks. A pass is known by its number over that loader.
"""

from __future__ import annotations

import functools
import os
import sys
import weakref

from . import structures, tensors, writing
from .collating import Drawn, collated

LOADERS = "torch.utils.data.dataloader"


class Loaders:
    """The loaders of one process."""

    def __init__(self, session):
        self.session, self.passes, self.drawn = session, {}, Drawn()
        self.numbers = weakref.WeakKeyDictionary()

    def number(self, loader):
        """Returns the number of a loader that is iterated over."""
        return self.numbers.setdefault(loader, len(self.numbers))

    def iterate(self, loader, original):
        """Returns what the loop iterates over in place of the loader's own iterator."""
        number = self.number(loader)
        index = self.passes.get(number, 0)
        self.passes[number] = index + 1
        if self.session.plan.get("feed"):
            return _fed(self.session, loader, number, index)
        self._note(loader, number)
        kept = getattr(loader, "_iterator", None)  # of persistent workers: it begins anew
        if kept is not None:
            self.drawn.forget(kept)
        return _Kept(original(loader), self, number, index)

    def length(self, loader, own):
        """Returns the length that a loader claims: where it is fed, that of the ranks' loader over the same data."""
        if not self.session.plan.get("feed"):
            return own()
        known = writing.read_facts(self.session.source()).get("loaders", {})
        number, about = self.numbers.get(loader), _about(loader)
        if str(number) in known:
            found = known[str(number)]["length"]
        else:
            found = next((one["length"] for one in known.values() if one["about"] == about), None)
        return own() if found is None else found

    def _note(self, loader, number):
        try:
            length = self.own_length(loader)
        except TypeError:  # its data have none
            length = None
        self.session.facts["loaders"][str(number)] = {"length": length, "about": _about(loader)}


def _about(loader):
    """Returns what tells one loader's data from another's."""
    data = loader.dataset
    return "%s %s" % (type(data).__name__, len(data) if hasattr(data, "__len__") else "")


class _Kept:
    """An iterator over a loader that writes down each batch. What else it is asked, the loader's own answers."""

    def __init__(self, iterator, loaders, number, index):
        self._iterator, self._session, self._drawn = iterator, loaders.session, loaders.drawn
        self._number, self._index, self._position = number, index, 0

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._iterator)

    def __next__(self):
        batch = cast(next(self._iterator), self._session.plan)
        drawn = self._drawn.of(self._iterator)
        if self._session.mode == "ranks" and self._session.plan.get("keep_batches"):
            name = "batch-%d-%d-%d.pt" % (self._number, self._index, self._position)
            try:
                writing.save(self._session.place(), name, batch)
                writing.save(self._session.place(), "drawn-" + name, drawn)
            except Exception as error:
                self._session.refuse("a batch cannot be kept: %s" % error)
        self._session.given(self._number, self._index, self._position, batch)
        self._position += 1
        return batch

    def __getattr__(self, name):
        return getattr(self.__dict__["_iterator"], name)


def _fed(session, loader, number, index):
    """Yields the batches of one pass: of all ranks joined, or of one rank."""
    position = 0
    ranks = [session.plan["rank"]] if session.mode == "alone" else range(session.plan["world"])
    while True:
        name = "batch-%d-%d-%d.pt" % (number, index, position)
        folders = [os.path.join(session.plan["source"], "rank-%d" % rank) for rank in ranks]
        shares = [writing.load(one, name) for one in folders if os.path.exists(os.path.join(one, name))]
        if not shares:
            return
        anew = False
        try:
            batch = shares[0] if len(shares) == 1 else structures.joined(shares)
        except structures.CannotJoinError as error:
            drawn = [writing.load(one, "drawn-" + name) for one in folders if os.path.exists(os.path.join(one, name))]
            try:
                batch, anew = collated(loader, shares, drawn, lambda made: cast(made, session.plan)), True
            except Exception as why:
                session.refuse("%s; the loader cannot make them one batch: %s" % (error, why or type(why).__name__))
        session.given(number, index, position, batch)
        if anew:  # padded to another length, the samples are the same
            session.batches[-1]["samples"] = [one for share in shares for one in tensors.batch_facts(share)["samples"]]
        session.batches[-1]["shares"] = [_size(one) for one in shares]
        position += 1
        yield batch


def _size(batch):
    return next((len(one) for _, one in structures.leaves(batch) if one.dim()), 0)


def cast(batch, plan):
    """Returns the batch in the experiment's precision."""
    if plan.get("dtype") != "float64":
        return batch
    return structures.mapped(batch, lambda one: one.double() if one.dtype.is_floating_point else one)


def place_hooks(session):
    """Patches torch's DataLoader, which all loaders that count are made of."""
    owner, loaders = sys.modules[LOADERS].DataLoader, Loaders(session)
    iterate, length = owner.__iter__, owner.__len__
    loaders.own_length = length

    @functools.wraps(iterate)
    def __iter__(self):  # noqa: N807
        return loaders.iterate(self, iterate)

    @functools.wraps(length)
    def __len__(self):  # noqa: N807
        return loaders.length(self, lambda: length(self))

    owner.__iter__, owner.__len__ = __iter__, __len__
    iterators = sys.modules[LOADERS]._BaseDataLoaderIter
    draw = iterators._next_index

    @functools.wraps(draw)
    def _next_index(self):
        indices = draw(self)
        loaders.drawn.note(self, indices)
        return indices

    iterators._next_index = _next_index

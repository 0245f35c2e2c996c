"""Batches as nested structures: their tensors by path, made of another type, or joined over ranks."""

from __future__ import annotations

from collections.abc import Mapping


class CannotJoinError(Exception):
    """The shares of the ranks make no batch of one process; the argument says why."""


def leaves(value, path=""):
    """Yields (path, tensor) of each tensor in a batch."""
    import torch

    if isinstance(value, torch.Tensor):
        yield path, value
    elif isinstance(value, Mapping):
        for key in value:
            yield from leaves(value[key], "%s[%r]" % (path, key))
    elif isinstance(value, (list, tuple)):
        for number, one in enumerate(value):
            yield from leaves(one, "%s[%d]" % (path, number))


def mapped(value, change):
    """Returns the same structure with `change(tensor)` for each tensor."""
    import torch

    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, Mapping):
        return _like(value, {key: mapped(value[key], change) for key in value})
    if isinstance(value, (list, tuple)):
        return _sequence(value, [mapped(one, change) for one in value])
    return value


def joined(shares):
    """Returns one batch that holds the samples of all shares, in their order. Raises CannotJoinError."""
    return _Joining([counts_of(share) for share in shares]).of(shares, "the batch")


def counts_of(batch):
    """Returns the numbers that a count in this batch may be: of samples, elements, entries that are not ignored."""
    found = set()
    for _, one in leaves(batch):
        if one.dim():
            found |= {len(one), one.numel()}
            if not one.dtype.is_floating_point and not one.is_complex():
                found |= {int((one != 0).sum()), int((one != -100).sum())}
    return found


class _Joining:
    """Joins shares; `counts` are what a number in each of them may count."""

    def __init__(self, counts):
        self.counts = counts

    def of(self, shares, path):
        import torch

        first = shares[0]
        if isinstance(first, torch.Tensor):
            return self._tensors(shares, path)
        if isinstance(first, Mapping):
            keys = [key for key in first if all(key in share for share in shares)]
            return _like(
                first, {key: self.of([share[key] for share in shares], "%s[%r]" % (path, key)) for key in keys}
            )
        if isinstance(first, (list, tuple)):
            if all(isinstance(one, str) for one in first):
                return type(first)([one for share in shares for one in share])
            parts = enumerate(zip(*shares))  # noqa: B905 - strict came with 3.10
            return _sequence(first, [self.of(list(part), "%s[%d]" % (path, at)) for at, part in parts])
        return self._plain(shares, path)

    def _plain(self, shares, path):
        first = shares[0]
        is_number = isinstance(first, (int, float)) and not isinstance(first, bool)
        if is_number and (any(share != first for share in shares[1:]) or self._count(shares)):
            return sum(shares)
        if all(share == first for share in shares[1:]):
            return first
        raise CannotJoinError("%s is %s, which cannot be joined over ranks" % (path, type(first).__name__))

    def _count(self, numbers):
        """Whether equal numbers are counts: each is one of what can be counted in its share."""
        return all(number in counts for number, counts in zip(numbers, self.counts))  # noqa: B905

    def _tensors(self, shares, path):
        import torch

        if shares[0].dim() == 0:
            equal = all(torch.equal(one, shares[0]) for one in shares[1:])
            counts = self._count([one.item() for one in shares])
            return shares[0] if equal and not counts else sum(shares[1:], shares[0])
        if len({tuple(one.shape[1:]) for one in shares}) > 1:
            shown = " and ".join(str(tuple(one.shape)) for one in shares)
            raise CannotJoinError("the ranks' shares of %s have the shapes %s: pad them to one length" % (path, shown))
        return torch.cat(list(shares))


def _like(value, content):
    if type(value) is dict:
        return content
    try:
        made = value.copy()
        for key in content:
            made[key] = content[key]
        return made
    except Exception:
        return content


def _sequence(value, content):
    if hasattr(value, "_fields"):  # a named tuple
        return type(value)(*content)
    return type(value)(content)

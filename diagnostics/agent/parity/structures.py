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


def joined(shares, path="the batch"):
    """Returns one batch that holds the samples of all shares, in their order."""
    import torch

    first = shares[0]
    if isinstance(first, torch.Tensor):
        return _joined_tensors(shares, path)
    if isinstance(first, Mapping):
        keys = [key for key in first if all(key in share for share in shares)]
        return _like(first, {key: joined([share[key] for share in shares], "%s[%r]" % (path, key)) for key in keys})
    if isinstance(first, (list, tuple)):
        if all(isinstance(one, str) for one in first):
            return type(first)([one for share in shares for one in share])
        parts = zip(*shares)  # noqa: B905 - strict came with 3.10
        return _sequence(first, [joined(list(part), "%s[%d]" % (path, at)) for at, part in enumerate(parts)])
    if all(share == first for share in shares[1:]):
        return first
    if isinstance(first, (int, float)) and not isinstance(first, bool):
        return sum(shares)  # a number of a batch is a count, as a rule
    raise CannotJoinError("%s is %s, which cannot be joined over ranks" % (path, type(first).__name__))


def _joined_tensors(shares, path):
    import torch

    if shares[0].dim() == 0:
        if all(torch.equal(one, shares[0]) for one in shares[1:]):
            return shares[0]
        return sum(shares[1:], shares[0])  # a number of a batch is a count, as a rule
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

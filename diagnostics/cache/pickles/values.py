"""What stands for the objects a pickle would build: names, containers and tensors, never the objects themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from diagnostics.cache.pickles.globals import REFUSED_GLOBALS, SAFE_GLOBALS
from diagnostics.cache.storages import StorageTag


@dataclass(frozen=True, slots=True)
class Global:
    """A name the pickle would import; `refused` says that torch.load(weights_only=True) does not take it."""

    name: str
    refused: bool = False


# One object a name: a pickle of a million names costs no memory for them.
GLOBALS = {name: Global(name) for name in SAFE_GLOBALS} | {name: Global(name, True) for name in REFUSED_GLOBALS}
UNSAFE = Global("noted as unsafe")


class Opaque:
    """Whatever a pickle builds that nobody needs to know."""


OPAQUE = Opaque()


class PickleNode:
    """A dict, list, set or object: only what may lead to a tensor is kept in `items`, `count` counts all.

    The key of an item is its index, the dict's key, or "" for the state and the arguments of an object.
    """

    __slots__ = ("count", "items")

    def __init__(self) -> None:
        self.items: list[tuple[Any, Any]] = []
        self.count = 0


@dataclass(frozen=True, slots=True)
class Blob:
    """Bytes inside the pickle, by their place in it; `text` where they stand as UTF-8 of latin-1."""

    offset: int
    size: int
    text: bool = False


@dataclass(slots=True)
class PickleTensor:
    """One tensor that the pickle rebuilds: a view of `storage`, or of what its `parts` hold (sparse, nested)."""

    at: int  # the opcode that rebuilds it
    dtype: str
    itemsize: int
    size: tuple[int, ...]
    numel: int
    storage: StorageTag | None = None
    device: str = ""
    requires_grad: bool = False
    hooks: bool = False
    parameter: bool = False
    part: bool = False  # of another tensor, which counts for it
    parts: tuple[Any, ...] = ()

    @property
    def bytes(self) -> int:
        """What its own elements take."""
        return self.numel * self.itemsize


KEPT = frozenset({PickleNode, PickleTensor, StorageTag, tuple})  # what may lead to a tensor

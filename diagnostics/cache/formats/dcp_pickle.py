"""A distributed checkpoint's `.metadata` pickle as plain records: nothing is imported, nothing is called.

Where other walks forget what a pickle builds, this one keeps objects, tables and lists as records, because the
metadata is a tree of them. Cycles are possible in what it returns: read it to a fixed depth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from diagnostics.cache.pickles.opcodes import HANDLERS as PLAIN
from diagnostics.cache.pickles.values import OPAQUE, Global
from diagnostics.cache.pickles.walk import Handler, PickleWalk

_METADATA = "torch.distributed.checkpoint.metadata"
CLASSES = {
    "Metadata",
    "BytesStorageMetadata",
    "ChunkStorageMetadata",
    "MetadataIndex",
    "StorageMeta",
    "TensorProperties",
    "TensorStorageMetadata",
    "_MEM_FORMAT_ENCODING",
}
# What the metadata of torch 2.0 to 2.13 names beyond tensors' own names; safe in this file only.
SAFE_HERE = {
    *(f"{_METADATA}.{name}" for name in CLASSES),
    "torch.distributed.checkpoint.filesystem._StorageInfo",
    *(f"{module}.{name}Path" for module in ("pathlib", "pathlib._local") for name in ("Posix", "PurePosix", "Windows")),
}
# Names are one object each: a pickle that names one a million times costs no memory for it.
_GLOBALS = {name: Global(name) for name in SAFE_HERE}
# Some Pythons (3.11.2 is one) pickle a member of an enumeration as getattr(class, "NAME"): safe of this one class.
_GETATTR = Global("builtins.getattr")
_ENUMERATION = f"{_METADATA}._MEM_FORMAT_ENCODING"


@dataclass(slots=True, eq=False)
class Record:
    """An object: its class, the arguments it is made with, and the state set on it."""

    name: str
    args: Any = ()
    state: Any = None

    def get(self, key: str) -> Any:
        """Returns an attribute, None where it has none of that name."""
        return self.state.get(key) if isinstance(self.state, Table) else None


class Table(list[Any]):
    """A dictionary as key, value, key, value...: its keys may be records."""

    __slots__ = ()

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Yields key and value."""
        return zip(self[::2], self[1::2], strict=False)

    def get(self, key: str) -> Any:
        """Returns the value of a key; for tables of few keys."""
        return next((value for known, value in self.items() if known == key), None)


@dataclass(slots=True)
class MetadataWalk(PickleWalk):
    """A walk that keeps what is built; the tree is on the stack at its end."""

    def name(self, name: str) -> Global:
        """Returns the global, and notes it when it is neither tensor rebuilding nor a class of the metadata."""
        # Not super(): a dataclass with slots is made anew, and the method would look for the old one.
        if name == _GETATTR.name:
            return _GETATTR  # judged where it is called
        return _GLOBALS.get(name) or PickleWalk.name(self, name)

    def call(self, callee: Any, arguments: Any) -> None:
        """Pushes what stands for the result of a call that only old protocols make."""
        if callee is _GETATTR:
            self.flag(_GETATTR.name)
        PickleWalk.call(self, callee, arguments)


class Item(NamedTuple):
    """Where one item of a checkpoint lies: `key` is its name in the state, `path` is beside the metadata."""

    key: str
    path: str
    offset: int
    length: int


def items_of(walk: MetadataWalk) -> Iterator[Item]:
    """Yields the items of a walk's metadata, none where it is no metadata."""
    root = walk.stack[-1] if walk.stack else None
    data = root.get("storage_data") if isinstance(root, Record) else None
    for index, info in data.items() if isinstance(data, Table) else ():
        if not isinstance(info, Record) or not isinstance(index, Record):
            continue
        match index.get("fqn"), info.get("relative_path"), info.get("offset"), info.get("length"):
            case str(key), str(path), int(offset), int(length):
                yield Item(key, path, offset, length)


def walk_metadata(data: bytes) -> MetadataWalk:
    """Returns the walk over a metadata pickle. Raises MalformedPickleError."""
    walk = MetadataWalk(data)
    walk.run(_HANDLERS)
    return walk


def _table(walk: PickleWalk) -> None:
    walk.stack.append(Table())


def _list(walk: PickleWalk) -> None:
    walk.stack.append([])


def _table_to_mark(walk: PickleWalk) -> None:
    walk.stack.append(Table(walk.to_mark()))


def _list_to_mark(walk: PickleWalk) -> None:
    walk.stack.append(walk.to_mark())


def _append(walk: PickleWalk) -> None:
    item = walk.pop()
    if type(walk.stack[-1]) is list:
        walk.stack[-1].append(item)


def _appends(walk: PickleWalk) -> None:
    items = walk.to_mark()
    if type(walk.stack[-1]) is list:
        walk.stack[-1].extend(items)


def _set_item(walk: PickleWalk) -> None:
    value, key = walk.pop(), walk.pop()
    if isinstance(walk.stack[-1], Table):
        walk.stack[-1].extend((key, value))


def _set_items(walk: PickleWalk) -> None:
    items = walk.to_mark()
    if isinstance(walk.stack[-1], Table):
        walk.stack[-1].extend(items)


def _build(walk: PickleWalk) -> None:
    state, target = walk.pop(), walk.stack[-1]
    if isinstance(target, Record):
        target.state = state
    elif isinstance(target, Global):
        walk.flag(f"a change of {target.name} itself")


def _call(walk: PickleWalk) -> None:
    args, callee = walk.pop(), walk.pop()
    if callee is _GETATTR and not _member(args):
        walk.flag(_GETATTR.name)
    if isinstance(callee, Global):
        walk.stack.append(Record(callee.name, args))
    else:
        walk.flag("a value computed by the pickle itself")
        walk.stack.append(OPAQUE)


def _member(args: Any) -> bool:
    """Whether the arguments of getattr name a member of the metadata's own enumeration."""
    match args:
        case (Global(name=class_name), str(member)):
            return class_name == _ENUMERATION and member.isidentifier() and not member.startswith("_")
    return False


def _call_with_names(walk: PickleWalk) -> None:
    walk.pop()
    _call(walk)


_KEPT: dict[str, Handler] = {
    "}": _table,
    "]": _list,
    "d": _table_to_mark,
    "l": _list_to_mark,
    "a": _append,
    "e": _appends,
    "s": _set_item,
    "u": _set_items,
    "b": _build,
    "R": _call,
    "\x81": _call,
    "\x92": _call_with_names,
}
_HANDLERS: dict[int, Handler] = {**PLAIN, **{ord(code): handler for code, handler in _KEPT.items()}}

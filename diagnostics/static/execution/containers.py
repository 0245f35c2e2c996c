"""What the methods of lists and dicts give and change. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from diagnostics.static.execution.values import UNKNOWN, Const, Items, Made, Mapped, Value, key_value

Change = tuple[dict[Any, Any], Any, Any]  # a store, the key that is written in it, its value
_ADDING = frozenset(["append", "add", "appendleft", "put", "put_nowait"])


def of_container(
    owner: Value, name: str, args: Sequence[Value], keywords: Mapping[str, Value], depth: int
) -> tuple[Value, Sequence[Change]] | None:
    """Returns what a method of a list or dict gives, and what it changes; None where it is no such.

    `depth`: how many loops are open of which one round stands for all; a list made outside of them grows on.
    """
    if isinstance(owner, Items):
        return _of_items(owner, name, args, depth)
    if isinstance(owner, Mapped):
        return _of_mapped(owner, name, args, keywords, depth)
    return None


def _of_items(
    owner: Items, name: str, args: Sequence[Value], depth: int
) -> tuple[Value, Sequence[Change]] | None:  # fmt: skip
    items = owner.items
    added: tuple[Value, ...] | None = None
    if name in _ADDING and len(args) == 1:
        added = (args[0], *items) if name == "appendleft" else (*items, args[0])
    elif name in ("extend", "update") and len(args) == 1:
        if isinstance(args[0], Items):
            added, owner.open = (*items, *args[0].items), owner.open or args[0].open
        elif name == "extend" and isinstance(args[0], Made) and owner.depth >= 0:
            added, owner.open = (*items, Made("item", owner=args[0])), True  # one entry stands for all
        else:
            owner.open = True
            return Const(None), ()
    elif name == "insert" and len(args) == 2:
        first = isinstance(args[0], Const) and args[0].value == 0
        added = (args[1], *items) if first else (*items, args[1])
    if added is not None:
        owner.open = owner.open or 0 <= owner.depth < depth
        return Const(None), [(owner.fields, "items", added)]
    if name in ("pop", "popleft") and items:
        first = name == "popleft" or bool(args and isinstance(args[0], Const) and args[0].value == 0)
        return items[0 if first else -1], ()
    if name == "clear":
        return Const(None), [(owner.fields, "items", ())]
    if name == "copy":
        return Items({"items": items}, owner.open), ()
    return (Const(None), ()) if name in ("sort", "reverse") else None


def _of_mapped(
    owner: Mapped, name: str, args: Sequence[Value], keywords: Mapping[str, Value], depth: int
) -> tuple[Value, Sequence[Change]] | None:
    fields = owner.fields
    if name == "items":
        pairs = tuple(Items({"items": (key_value(key), one)}) for key, one in fields.items())
        return Items({"items": pairs}, owner.open), ()
    if name in ("values", "keys"):
        found = tuple(fields.values()) if name == "values" else tuple(key_value(key) for key in fields)
        return Items({"items": found}, owner.open), ()
    if name in ("get", "pop", "setdefault") and args and isinstance(args[0], Const):
        key = args[0].value
        otherwise = args[1] if len(args) > 1 else Const(None)
        if key in fields:
            return fields[key], ()
        if owner.open or 0 <= owner.depth < depth:
            return None
        return otherwise, [(fields, key, otherwise)] if name == "setdefault" else ()
    if name == "update":
        given = args[0] if args else None
        if given is not None and not isinstance(given, Mapped):
            owner.open = True
        owner.open = owner.open or (isinstance(given, Mapped) and given.open) or "**" in keywords
        more = {**(given.fields if isinstance(given, Mapped) else {}), **keywords}
        return Const(None), [(fields, key, one) for key, one in more.items() if key != "**"]
    if name == "copy":
        return Mapped(dict(fields), owner.open, kind=owner.kind), ()
    return None


def merged(left: Value, right: Value) -> Value:
    """Returns the dict that `left | right` is."""
    if isinstance(left, Mapped) and isinstance(right, Mapped):
        return Mapped({**left.fields, **right.fields}, left.open or right.open)
    return UNKNOWN

"""How a program reaches each tensor of a pickle: "latent", "state.layers[0].weight", "" for a bare tensor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from diagnostics.cache.pickles.values import PickleNode, PickleTensor
from diagnostics.cache.storages import StorageTag

MAX_VISITS = 100_000
MAX_SEGMENTS, MAX_KEY = 64, 256
UNNAMED = frozenset({"", "_parameters", "_buffers", "_modules"})  # of a pickled module: not written by people

Path = tuple[Any, Any]  # (path of the container or None, key in it)


def reached(root: Any) -> Iterator[tuple[str, PickleTensor | StorageTag]]:
    """Yields what the root holds, depth first in the pickle's order, each once; circles and depth cost nothing."""
    seen: set[int] = set()
    open_items: list[Iterator[tuple[Path | None, Any]]] = [iter([(None, root)])]
    for _ in range(MAX_VISITS):
        while open_items and (entry := next(open_items[-1], None)) is None:
            open_items.pop()
        if not open_items or entry is None:
            return
        path, value = entry
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, PickleTensor | StorageTag):
            yield rendered(path), value
        elif isinstance(value, PickleNode):
            open_items.append(_items(path, value.items))
        elif isinstance(value, tuple):
            open_items.append(_items(path, enumerate(value)))


def _items(path: Path | None, items: Any) -> Iterator[tuple[Path | None, Any]]:
    for key, value in items:
        yield (path if isinstance(key, str) and key in UNNAMED else (path, key)), value


def rendered(path: Path | None) -> str:
    """Returns a path as people write it; the middle of an overlong one is left out."""
    segments: list[str] = []
    while path is not None and len(segments) < MAX_SEGMENTS:
        path, key = path
        segments.append(f".{key}" if isinstance(key, str) else f"[{key}]" if isinstance(key, int) else "[?]")
    text = ("..." if path is not None else "") + "".join(reversed(segments)).removeprefix(".")
    return text if len(text) <= MAX_KEY else f"{text[: MAX_KEY // 2]}...{text[-MAX_KEY // 2 :]}"

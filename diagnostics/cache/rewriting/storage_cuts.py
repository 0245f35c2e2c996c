"""Which parts of a storage its tensors use, and how the pickle must change when only those are kept.

Views that share stay together in one storage; a single view of scattered rows is packed.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from diagnostics.cache.patch import ByteRange
from diagnostics.cache.pickles.values import Global
from diagnostics.cache.rewriting.pickle_edits import PickleEdit, PlacedNumber, PlacesWalk, number_edit
from diagnostics.cache.storages import DTYPE_BYTES, StorageTag

VIEWS = {f"torch._utils._rebuild_{name}" for name in ("tensor", "tensor_v2", "tensor_v3", "qtensor")}
WITH_DTYPE = "torch._utils._rebuild_tensor_v3"  # its sixth argument is the type; the storage is bytes
SEVERAL_IN_A_BYTE = frozenset({"quint4x2", "quint2x4"})
MIN_SAVED_BYTES = 4096  # less is not worth a copy
MAX_ROWS = 1 << 16


@dataclass(frozen=True, slots=True)
class View:
    """A tensor's place in a storage: in elements of `itemsize` bytes."""

    offset: PlacedNumber
    size: tuple[PlacedNumber, ...]
    stride: tuple[PlacedNumber, ...]
    itemsize: int

    def span(self) -> tuple[int, int]:
        """Returns its first byte and the one after its last; nothing for no elements."""
        if 0 in self.size:
            return 0, 0
        last = self.offset + sum((length - 1) * step for length, step in zip(self.size, self.stride, strict=True))
        return self.offset * self.itemsize, (last + 1) * self.itemsize


@dataclass(frozen=True, slots=True)
class Cut:
    """A storage's parts that stay, in bytes of its member, and the edits of the pickle that fit them."""

    parts: tuple[ByteRange, ...]
    edits: tuple[PickleEdit, ...]

    @property
    def size(self) -> int:
        """Bytes that stay."""
        return sum(part.size for part in self.parts)


def cuts(walk: PlacesWalk) -> dict[str, Cut]:
    """Returns the storages that are worth cutting, by their keys."""
    found: dict[str, Cut] = {}
    views = _views(walk)
    named = Counter(str(reference[2]) for reference in walk.references)
    for key, references in _references(walk).items():
        mine = views.get(key, [])
        # A storage that is used otherwise than by a known view stays whole.
        if len(mine) != named[key] or any(view is None for view in mine):
            continue
        whole = [view for view in mine if view is not None]
        cut = _cut(walk.storages[key, str(references[0][3])], references, whole)
        if cut is not None:
            found[key] = cut
    return found


def _references(walk: PlacesWalk) -> dict[str, list[tuple[Any, ...]]]:
    found: dict[str, list[tuple[Any, ...]]] = {}
    for reference in walk.references:
        found.setdefault(str(reference[2]), []).append(reference)
    return found


def _views(walk: PlacesWalk) -> dict[str, list[View | None]]:
    found: dict[str, list[View | None]] = {}
    for name, arguments in walk.calls:
        if name in VIEWS and isinstance(arguments, tuple) and len(arguments) > 3 and type(arguments[0]) is StorageTag:
            found.setdefault(str(arguments[0].key), []).append(_view(name, arguments))
    return found


def _view(name: str, arguments: tuple[Any, ...]) -> View | None:
    storage, offset, size, stride = arguments[:4]
    itemsize = storage.itemsize
    if name == WITH_DTYPE:
        dtype = arguments[6] if len(arguments) > 6 else None
        itemsize = DTYPE_BYTES.get(dtype.name.removeprefix("torch."), 0) if isinstance(dtype, Global) else 0
    numbers = (offset, *size, *stride) if isinstance(size, tuple) and isinstance(stride, tuple) else ()
    placed = bool(numbers) and all(isinstance(number, PlacedNumber) and number >= 0 for number in numbers)
    return View(offset, size, stride, itemsize) if placed and itemsize and len(size) == len(stride) else None


def _cut(tag: StorageTag, references: Sequence[tuple[Any, ...]], views: Sequence[View]) -> Cut | None:
    numels = [reference[4] for reference in references]
    same = all(isinstance(numel, PlacedNumber) and numel == tag.numel for numel in numels)
    if (
        not same
        or tag.itemsize == 0
        or tag.dtype in SEVERAL_IN_A_BYTE
        or {r[1] for r in references} != {references[0][1]}
    ):
        return None
    if any(view.span()[1] > tag.bytes for view in views):
        return None
    kept = _kept_spans(tag, views)
    if len(views) == 1 and (rows := _packed(views[0])) is not None and rows.size < kept.size:
        kept = rows
    if tag.bytes - kept.size < MIN_SAVED_BYTES:
        return None
    numel_edits = [number_edit(numel, kept.size // tag.itemsize) for numel in numels]
    return Cut(kept.parts, (*kept.edits, *numel_edits))


def _kept_spans(tag: StorageTag, views: Sequence[View]) -> Cut:
    """Returns the spans of the views, merged where they touch, one after another; strides stay."""
    grain = max(tag.itemsize, *(view.itemsize for view in views))
    parts: list[ByteRange] = []
    for begin, end in sorted({view.span() for view in views}):
        if begin == end:
            continue
        begin, end = begin // grain * grain, min(-(-end // grain) * grain, tag.bytes)
        if parts and begin <= parts[-1].offset + parts[-1].size:
            begin, end = parts[-1].offset, max(end, parts[-1].offset + parts[-1].size)
            parts.pop()
        parts.append(ByteRange(begin, end - begin))
    edits = [number_edit(view.offset, _moved(view, parts) // view.itemsize) for view in views]
    return Cut(tuple(parts), tuple(edits))


def _moved(view: View, parts: Sequence[ByteRange]) -> int:
    """Returns the byte at which the view begins once only `parts` are there."""
    begin, end = view.span()
    if begin == end:
        return 0
    before = 0
    for part in parts:
        if begin < part.offset + part.size:
            return before + begin - part.offset
        before += part.size
    raise AssertionError("unreachable: every view lies in a part")


def _packed(view: View) -> Cut | None:
    """Returns the view's own elements, row by row, with the strides they then have; None where rows overlap."""
    dims = sorted(
        (int(step), int(length), at)
        for at, (length, step) in enumerate(zip(view.size, view.stride, strict=True))
        if length > 1 and step > 0
    )
    reach, dense = 1, 1
    outer: list[tuple[int, int]] = []
    edits: list[PickleEdit] = [number_edit(view.offset, 0)]
    packed = 1
    for step, length, at in dims:
        if step < reach:
            return None
        if step == dense and not outer:
            dense *= length
        else:
            outer.append((step, length))
        reach = (length - 1) * step + reach
        edits.append(number_edit(view.stride[at], packed))
        packed *= length
    if packed // dense > MAX_ROWS or 0 in view.size:
        return None
    parts = [ByteRange((view.offset + at) * view.itemsize, dense * view.itemsize) for at in _starts(outer)]
    return Cut(tuple(parts), tuple(edits))


def _starts(outer: Sequence[tuple[int, int]]) -> Iterator[int]:
    """Yields where each row begins, rows of the innermost dimension next to each other."""
    steps = [range(0, step * length, step) for step, length in reversed(outer)]
    return map(sum, itertools.product(*steps))

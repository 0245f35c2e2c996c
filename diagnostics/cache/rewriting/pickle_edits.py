"""Where in a torch pickle each device name and each number of a tensor stands, and the edits that change them.

Built on the same walk as the scan: nothing is unpickled. A string keeps the bytes that push it, so that the one
that serves as the place of a storage can be told from an equal string of the user's.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from diagnostics.cache.file_scan import HARMLESS_DEVICES
from diagnostics.cache.patch import ByteRange, UnrepairableError
from diagnostics.cache.pickles.opcodes import HANDLERS
from diagnostics.cache.pickles.values import Blob, Global
from diagnostics.cache.pickles.walk import Handler, PickleWalk

DEVICE_ARGUMENT = {  # the rebuilding calls that name a device of their own, and which argument it is
    "torch._utils._rebuild_device_tensor_from_cpu_tensor": 2,
    "torch._utils._rebuild_device_tensor_from_numpy": 2,
    "torch._utils._rebuild_xla_tensor": 2,
}


OF_TYPE = "torch._tensor._rebuild_from_type_v2"  # (rebuilding call, class, its arguments, attributes)
SUBCLASS = "torch._utils._rebuild_wrapper_subclass"
SUBCLASS_DEVICE = 6  # which argument: a torch.device, not a text


@dataclass(frozen=True, slots=True)
class PickleEdit:
    """Bytes `begin` to `end` of a pickle become `new`."""

    begin: int
    end: int
    new: bytes


class PlacedText(str):
    """A string, the bytes of the opcode that made it and of the one that pushed it here (a memo entry's differ)."""

    __slots__ = ("begin", "end", "made_at", "made_end")

    begin: int
    end: int
    made_at: int
    made_end: int


class PlacedNumber(int):
    """A whole number and the bytes of the opcode that pushes it."""

    begin: int
    end: int


@dataclass(slots=True)
class PlacesWalk(PickleWalk):
    """A walk that also notes device names, where strings are pushed, calls that rebuild tensors, and frames."""

    devices: list[PlacedText] = field(default_factory=list)
    texts: dict[int, PlacedText] = field(default_factory=dict)  # by the byte of the opcode that pushes it
    references: list[tuple[Any, ...]] = field(default_factory=list)  # persistent ids of storages
    calls: list[tuple[str, Any]] = field(default_factory=list)  # names that begin with torch., and their arguments
    frames: list[int] = field(default_factory=list)  # bytes at which FRAME opcodes stand
    blobs: dict[int, int] = field(
        default_factory=dict
    )  # where long bytes begin: where the opcode that pushes them does

    def with_place(self, text: str, made: PlacedText | None = None) -> PlacedText:
        """Returns the text with the bytes of the present opcode, and of the one that made it."""
        placed = PlacedText(text)
        placed.begin, placed.end = self.op_at, self.at
        placed.made_at, placed.made_end = (made.made_at, made.made_end) if made is not None else (self.op_at, self.at)
        self.texts[self.op_at] = placed
        return placed


def walk_places(data: bytes, begin: int = 0) -> PlacesWalk:
    """Returns the walk over the first pickle of `data` from byte `begin` on. Raises MalformedPickleError."""
    walk = PlacesWalk(data, begin)
    walk.run(PLACES)
    return walk


def _placed_text(handler: Handler) -> Handler:
    def push(walk: PickleWalk) -> None:
        handler(walk)
        if isinstance(walk, PlacesWalk) and isinstance(walk.stack[-1], str):
            walk.stack[-1] = walk.with_place(walk.stack[-1])

    return push


def _placed_again(handler: Handler) -> Handler:
    def push(walk: PickleWalk) -> None:
        handler(walk)
        if isinstance(walk, PlacesWalk) and isinstance(walk.stack[-1], PlacedText):
            walk.stack[-1] = walk.with_place(walk.stack[-1], walk.stack[-1])

    return push


def _placed_number(handler: Handler) -> Handler:
    def push(walk: PickleWalk) -> None:
        handler(walk)
        if type(walk.stack[-1]) is int:
            number = walk.stack[-1] = PlacedNumber(walk.stack[-1])
            number.begin, number.end = walk.op_at, walk.at

    return push


def _placed_bytes(handler: Handler) -> Handler:
    def push(walk: PickleWalk) -> None:
        handler(walk)
        if isinstance(walk, PlacesWalk) and type(walk.stack[-1]) is Blob:
            walk.blobs[walk.stack[-1].offset] = walk.op_at

    return push


def _call(walk: PickleWalk) -> None:
    callee, arguments = walk.stack[-2], walk.stack[-1]
    if isinstance(walk, PlacesWalk) and isinstance(callee, Global) and callee.name.startswith("torch."):
        _note_call(walk, callee.name, arguments)
    HANDLERS[ord("R")](walk)


def _note_call(walk: PlacesWalk, name: str, arguments: Any) -> None:
    if name == OF_TYPE and isinstance(arguments, tuple) and len(arguments) > 2 and isinstance(arguments[0], Global):
        name, arguments = arguments[0].name, arguments[2]
    walk.calls.append((name, arguments))
    if name in DEVICE_ARGUMENT and (device := device_argument(name, arguments)) is not None:
        walk.devices.append(device)


def device_argument(name: str, arguments: Any) -> PlacedText | None:
    """Returns the device that a rebuilding call names of its own, None where it names none."""
    at = DEVICE_ARGUMENT.get(name)
    named = at is not None and isinstance(arguments, tuple) and len(arguments) > at
    return arguments[at] if named and isinstance(arguments[at], PlacedText) else None


def _storage(walk: PickleWalk) -> None:
    reference = walk.stack[-1]
    HANDLERS[ord("Q")](walk)  # raises for a reference that is no storage
    if isinstance(walk, PlacesWalk):
        walk.references.append(reference)
        walk.devices.append(reference[3])


def _frame(walk: PickleWalk) -> None:
    if isinstance(walk, PlacesWalk):
        walk.frames.append(walk.op_at)
    walk.skip(8)


PLACES: dict[int, Handler] = {
    **HANDLERS,
    **{ord(code): _placed_text(HANDLERS[ord(code)]) for code in "X\x8c\x8dUTSV"},
    **{ord(code): _placed_again(HANDLERS[ord(code)]) for code in "hjg"},
    **{ord(code): _placed_number(HANDLERS[ord(code)]) for code in "KMJI\x8a"},
    **{ord(code): _placed_bytes(HANDLERS[ord(code)]) for code in "CB\x8e\x96"},
    ord("R"): _call,
    ord("Q"): _storage,
    ord("\x95"): _frame,
}


def foreign_devices(walk: PlacesWalk) -> dict[str, int]:
    """Returns how many storages name each device that only the machine that wrote the file need have.

    Raises UnrepairableError where a device is named in a way that no edit of a text reaches.
    """
    for name, arguments in walk.calls:
        if name == SUBCLASS and _names_foreign(arguments):
            raise UnrepairableError(f"a tensor of a class of its own is on {arguments[SUBCLASS_DEVICE]}")
    # A storage that several tensors share is named once for each of them.
    named = {(reference[2], reference[3]) for reference in walk.references}
    called = [device for call in walk.calls if (device := device_argument(*call)) is not None]
    counts = Counter(str(device) for device in (*(device for _, device in named), *called))
    return {device: counts[device] for device in sorted(counts) if device not in HARMLESS_DEVICES}


def _names_foreign(arguments: Any) -> bool:
    device = arguments[SUBCLASS_DEVICE] if isinstance(arguments, tuple) and len(arguments) > SUBCLASS_DEVICE else None
    return isinstance(device, str) and device not in HARMLESS_DEVICES


def device_edits(walk: PlacesWalk) -> list[PickleEdit]:
    """Returns the edits that make every foreign device `cpu` and leave equal strings of the user's alone.

    A string made once and fetched from the memo for both purposes: the places that fetch it for the other
    purpose push a text of their own instead.
    """
    foreign = {device.begin for device in walk.devices if device not in HARMLESS_DEVICES}
    made = {walk.texts[begin].made_at for begin in foreign}
    edits: list[PickleEdit] = []
    for text in walk.texts.values():
        if text.made_at not in made:
            continue
        if text.begin == text.made_at and text.begin in foreign:
            edits.append(PickleEdit(text.begin, text.end, _with_text(walk.data[text.begin], "cpu")))
        elif text.begin != text.made_at and (text.begin in foreign) != (text.made_at in foreign):
            edits.append(
                PickleEdit(text.begin, text.end, _with_text(ord("X"), "cpu" if text.begin in foreign else text))
            )
    return edits


def _with_text(code: int, text: str) -> bytes:
    data = text.encode()
    match chr(code):
        case "X" | "T":
            return bytes([code]) + len(data).to_bytes(4, "little") + data
        case "U" | "\x8c":
            return bytes([code, len(data)]) + data
        case "\x8d":
            return bytes([code]) + len(data).to_bytes(8, "little") + data
        case "S":
            return b"S'" + data + b"'\n"
        case "V":
            return b"V" + data + b"\n"
    raise AssertionError(f"opcode {code:#04x} pushes no text")


def number_edit(number: PlacedNumber, value: int) -> PickleEdit:
    """Returns the edit that makes the pickle push `value` instead, as pickle itself writes it from protocol 1 on."""
    if value < 1 << 8:
        new = b"K" + value.to_bytes(1, "little")
    elif value < 1 << 16:
        new = b"M" + value.to_bytes(2, "little")
    elif value < 1 << 31:
        new = b"J" + value.to_bytes(4, "little")
    else:
        new = b"\x8a\x08" + value.to_bytes(8, "little", signed=True)
    return PickleEdit(number.begin, number.end, new)


def edited(walk: PlacesWalk, edits: Sequence[PickleEdit], begin: int = 0) -> bytes:
    """Returns the pickle from byte `begin` to its STOP with the edits made and the lengths of its frames corrected.

    Raises UnrepairableError where edits contradict each other.
    """
    return replaced(walk.data, begin, walk.at, [*edits, *frame_edits(walk, edits)])


def replaced(data: bytes, begin: int, end: int, edits: Iterable[PickleEdit]) -> bytes:
    """Returns bytes `begin` to `end` with the edits made. Raises UnrepairableError where they contradict each other."""
    pieces = pieces_of(begin, end, edits)
    return b"".join(data[p.offset : p.offset + p.size] if isinstance(p, ByteRange) else p for p in pieces)


def pieces_of(begin: int, end: int, edits: Iterable[PickleEdit]) -> list[ByteRange | bytes]:
    """Returns bytes `begin` to `end` with the edits made. Raises UnrepairableError where they contradict each other."""
    pieces: list[ByteRange | bytes] = []
    at = begin
    for edit in sorted(set(edits), key=lambda edit: edit.begin):
        if edit.begin < at:
            raise UnrepairableError(f"byte {edit.begin} of the pickle serves two tensors that need different values")
        pieces += (ByteRange(at, edit.begin - at), edit.new)
        at = edit.end
    return [*pieces, ByteRange(at, end - at)]


def frame_edits(walk: PlacesWalk, edits: Sequence[PickleEdit]) -> list[PickleEdit]:
    """Returns the edits that correct the lengths of frames in which other edits lie."""
    corrected: list[PickleEdit] = []
    ordered = sorted(set(edits), key=lambda edit: edit.begin)
    begins = [edit.begin for edit in ordered]
    for at in walk.frames:
        begin = at + 9
        size = int.from_bytes(walk.data[at + 1 : begin], "little")
        inside = ordered[bisect_left(begins, begin) : bisect_left(begins, begin + size)]
        growth = sum(len(edit.new) - (edit.end - edit.begin) for edit in inside)
        if growth:
            corrected.append(PickleEdit(at + 1, begin, (size + growth).to_bytes(8, "little")))
    return corrected


def changes(foreign: Mapping[str, int]) -> tuple[str, ...]:
    """Returns the changes in words, one a device."""
    return tuple(f"{count} storage{'s' * (count > 1)} {device} -> cpu" for device, count in foreign.items())

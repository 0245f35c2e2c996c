"""Reads a pickle's opcodes as data: which storages it names, and what it would import or call.

Nothing is unpickled: the stack holds plain constants, names and a marker for everything else, so no
class is looked up, nothing is imported and nothing is called. Time and memory are bounded by MAX_OPS,
MAX_TEXT and the caller's limit on bytes; nesting costs no recursion. Opcodes: PEP 307, 574, 3154 and
the comments of Python's pickletools.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from diagnostics.caches.file_bytes import DamagedFileError
from diagnostics.caches.safe_globals import SAFE_GLOBALS
from diagnostics.caches.storages import StorageTag, storage_type

MAX_OPS = 2_000_000  # a checkpoint of 10,000 tensors has about 500,000
MAX_MEMO = 1_000_000
MAX_TEXT = 1024  # longer strings are never names, keys or devices
MAX_UNSAFE = 16  # different names that are kept


class MalformedPickleError(DamagedFileError):
    """The bytes are no complete pickle; `truncated` tells one that is cut off from nonsense."""


class Global(NamedTuple):
    """A name the pickle would import."""

    name: str


class UnsafeCall(NamedTuple):
    """A name beyond tensor rebuilding, and the offset at which the pickle asks for it."""

    name: str
    offset: int


# One object a name: a pickle of a million names costs no memory for them.
GLOBALS = {name: Global(name) for name in SAFE_GLOBALS}
UNSAFE = Global("noted as unsafe")


class Opaque:
    """Whatever a pickle builds that nobody needs to know."""


OPAQUE = Opaque()


Handler = Callable[["PickleWalk"], None]  # what one opcode does to the walk
STOP = ord(".")


@dataclass(slots=True)
class PickleWalk:
    """The state of one walk; read `storages`, `unsafe`, `tensors` and `end` after `run`."""

    data: bytes
    at: int = 0
    stack: list[Any] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)  # heights of the stack
    memo: dict[int, Any] = field(default_factory=dict)
    storages: dict[tuple[str, str], StorageTag] = field(default_factory=dict)
    unsafe: dict[str, UnsafeCall] = field(default_factory=dict)
    tensors: int = 0
    op_at: int = 0

    def run(self, handlers: Mapping[int, Handler]) -> PickleWalk:
        """Walks to STOP by `pickle_opcodes.HANDLERS` and returns itself; `at` is then the first byte after the pickle.

        Raises MalformedPickleError with the offset for bytes that are no pickle, are cut off, or
        exceed the limits.
        """
        data = self.data
        try:
            for _ in range(MAX_OPS):
                self.op_at = at = self.at
                code = data[at]
                self.at = at + 1
                if code == STOP:
                    return self
                handlers[code](self)
        except KeyError:
            raise MalformedPickleError(f"no opcode {data[self.op_at]:#04x} at byte {self.op_at}") from None
        except IndexError:
            cut = self.at >= len(data)
            what = "ends before its STOP" if cut else "takes from an empty stack"
            raise MalformedPickleError(f"the pickle {what} (byte {self.op_at})", truncated=cut) from None
        raise MalformedPickleError(f"more than {MAX_OPS:,} opcodes")

    def take(self, size: int) -> bytes:
        """Returns the next `size` bytes of the argument."""
        begin = self.at
        self.skip(size)
        return self.data[begin : self.at]

    def skip(self, size: int) -> None:
        """Steps over `size` bytes without copying them."""
        if self.at + size > len(self.data):
            what = f"an argument of {size} bytes at byte {self.op_at} exceeds the pickle"
            raise MalformedPickleError(what, truncated=True)
        self.at += size

    def number(self, size: int) -> int:
        """Returns the next `size` bytes as an unsigned number."""
        return int.from_bytes(self.take(size), "little")

    def line(self) -> str:
        """Returns the argument up to the next newline; an overlong one is cut."""
        end = self.data.find(b"\n", self.at)
        if end < 0:
            raise MalformedPickleError(f"a line begun at byte {self.op_at} has no end", truncated=True)
        text = self.data[self.at : min(end, self.at + MAX_TEXT)].decode("utf-8", "replace")
        self.at = end + 1
        return text

    def to_mark(self) -> list[Any]:
        """Takes everything above the last mark."""
        if not self.marks:
            raise MalformedPickleError(f"no mark on the stack at byte {self.op_at}")
        height = self.marks.pop()
        items = self.stack[height:]
        del self.stack[height:]
        return items

    def pop(self) -> Any:
        """Takes the top of the stack."""
        return self.stack.pop()

    def remember(self, slot: int) -> None:
        """Stores the top of the stack in the memo."""
        if len(self.memo) >= MAX_MEMO:
            raise MalformedPickleError(f"more than {MAX_MEMO:,} memo entries")
        self.memo[slot] = self.stack[-1]

    def recall(self, slot: int) -> None:
        """Pushes a memo entry."""
        if slot not in self.memo:
            raise MalformedPickleError(f"memo entry {slot} at byte {self.op_at} was never stored")
        self.stack.append(self.memo[slot])

    def name(self, name: str) -> Global:
        """Returns the global, and notes it when it is more than tensor rebuilding."""
        known = GLOBALS.get(name, UNSAFE)
        if known is UNSAFE:
            self.flag(name)
        return known

    def flag(self, name: str) -> None:
        """Notes something unsafe at this opcode; only the first few names are kept."""
        if len(self.unsafe) < MAX_UNSAFE:
            self.unsafe.setdefault(name, UnsafeCall(name, self.op_at))

    def call(self, callee: Any) -> None:
        """Pushes what a call would give: nothing is called."""
        if not isinstance(callee, Global):
            self.flag("a value computed by the pickle itself")
        elif callee.name.startswith("torch._utils._rebuild") and "parameter" not in callee.name:
            self.tensors += 1
        self.stack.append(OPAQUE)

    def persistent(self, reference: Any) -> None:
        """Notes the storage that a persistent id names: ('storage', class, key, location, numel, ...)."""
        self.stack.append(OPAQUE)
        match reference:
            case ("storage", Global(name), str(key), str(location), int(numel), *_) if 0 <= numel < 1 << 62:
                dtype, itemsize = storage_type(name.rpartition(".")[2])
                self.storages.setdefault((key, location), StorageTag(key, dtype, itemsize, location, numel, self.op_at))
            case ("module", *_):  # legacy files keep the source of saved modules here
                self.flag("a module's source kept in the pickle")
            case _:
                raise MalformedPickleError(f"the persistent id at byte {self.op_at} names no storage")

"""Reads a pickle's opcodes as data: which storages it names, and what it would import or call.

Nothing is unpickled: the stack holds plain constants, names and a marker for everything else, so no
class is looked up, nothing is imported and nothing is called. Time and memory are bounded by MAX_OPS,
MAX_TEXT and the caller's limit on bytes; nesting costs no recursion. Opcodes: PEP 307, 574, 3154 and
the comments of Python's pickletools.
"""

from __future__ import annotations

from collections.abc import Callable
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

    def run(self) -> PickleWalk:
        """Walks to STOP and returns itself; `at` is then the first byte after the pickle.

        Raises MalformedPickleError with the offset for bytes that are no pickle, are cut off, or
        exceed the limits.
        """
        data, handlers = self.data, HANDLERS
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


STOP = ord(".")
HANDLERS: dict[int, Callable[[PickleWalk], None]] = {}
Handler = Callable[[PickleWalk], None]


def _on(*codes: str) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        HANDLERS.update({ord(code): handler for code in codes})
        return handler

    return register


def _constant(value: Any) -> Handler:
    return lambda walk: walk.stack.append(value)


def _text(size_bytes: int) -> Handler:
    def push(walk: PickleWalk) -> None:
        begin = walk.at + size_bytes
        size = int.from_bytes(walk.data[walk.at : begin], "little")
        walk.at = begin
        walk.skip(size)
        walk.stack.append(OPAQUE if size > MAX_TEXT else walk.data[begin : walk.at].decode("utf-8", "replace"))

    return push


def _bytes(size_bytes: int) -> Handler:
    def push(walk: PickleWalk) -> None:
        walk.skip(walk.number(size_bytes))
        walk.stack.append(OPAQUE)

    return push


def _integer(size: int, *, signed: bool = False) -> Handler:
    return lambda walk: walk.stack.append(int.from_bytes(walk.take(size), "little", signed=signed))


def _tuple(size: int) -> Handler:
    def push(walk: PickleWalk) -> None:
        items = tuple(walk.pop() for _ in range(size))
        walk.stack.append(items[::-1])

    return push


for _code, _value in {"N": None, "\x88": True, "\x89": False, ")": ()}.items():
    HANDLERS[ord(_code)] = _constant(_value)
for _code in "]}\x8f\x97":  # empty list, dict, set; an out-of-band buffer
    HANDLERS[ord(_code)] = _constant(OPAQUE)
for _code, _size in {"X": 4, "\x8c": 1, "\x8d": 8, "U": 1, "T": 4}.items():
    HANDLERS[ord(_code)] = _text(_size)
for _code, _size in {"B": 4, "C": 1, "\x8e": 8, "\x96": 8}.items():
    HANDLERS[ord(_code)] = _bytes(_size)
HANDLERS[ord("M")] = _integer(2)
HANDLERS[ord("J")] = _integer(4, signed=True)
for _code, _size in {"\x85": 1, "\x86": 2, "\x87": 3}.items():
    HANDLERS[ord(_code)] = _tuple(_size)


# The next four make up two thirds of torch's pickles, so they read their byte without a call; past the
# end that is an IndexError, which `run` understands.
@_on("K")
def _binint1(walk: PickleWalk) -> None:
    walk.stack.append(walk.data[walk.at])
    walk.at += 1


@_on("q")
def _binput(walk: PickleWalk) -> None:
    walk.memo[walk.data[walk.at]] = walk.stack[-1]  # at most 256 slots: needs no limit
    walk.at += 1


@_on("h")
def _binget(walk: PickleWalk) -> None:
    slot = walk.data[walk.at]
    if slot not in walk.memo:
        raise MalformedPickleError(f"memo entry {slot} at byte {walk.op_at} was never stored")
    walk.stack.append(walk.memo[slot])
    walk.at += 1


@_on("(")
def _mark(walk: PickleWalk) -> None:
    walk.marks.append(len(walk.stack))


@_on("\x80")
def _proto(walk: PickleWalk) -> None:
    walk.skip(1)


@_on("\x95")
def _frame(walk: PickleWalk) -> None:
    walk.skip(8)


@_on("G")
def _float(walk: PickleWalk) -> None:
    walk.skip(8)
    walk.stack.append(OPAQUE)


@_on("F", "L", "I", "S", "V")
def _as_line(walk: PickleWalk) -> None:
    code, text = walk.data[walk.op_at], walk.line()
    if code in b"IL" and len(text) < 20 and text.rstrip("L").lstrip("-").isdecimal():
        walk.stack.append(int(text.rstrip("L")))
    else:
        walk.stack.append(text.strip("'\"") if code in b"SV" else OPAQUE)


@_on("\x8a")
def _long1(walk: PickleWalk) -> None:
    size = walk.number(1)
    if size > 8:
        walk.skip(size)
        walk.stack.append(OPAQUE)
    else:
        walk.stack.append(int.from_bytes(walk.take(size), "little", signed=True))


@_on("\x8b")
def _long4(walk: PickleWalk) -> None:
    walk.skip(walk.number(4))
    walk.stack.append(OPAQUE)


@_on("t")
def _tuple_to_mark(walk: PickleWalk) -> None:
    walk.stack.append(tuple(walk.to_mark()))


@_on("l", "d", "\x91")
def _container_to_mark(walk: PickleWalk) -> None:
    walk.to_mark()
    walk.stack.append(OPAQUE)


@_on("e", "u", "\x90")
def _extend(walk: PickleWalk) -> None:
    walk.to_mark()
    walk.stack[-1]


@_on("a", "b")
def _append_or_build(walk: PickleWalk) -> None:
    walk.pop()
    walk.stack[-1]


@_on("s")
def _setitem(walk: PickleWalk) -> None:
    walk.pop()
    walk.pop()
    walk.stack[-1]


@_on("0")
def _pop(walk: PickleWalk) -> None:
    if walk.marks and walk.marks[-1] == len(walk.stack):
        walk.marks.pop()
    else:
        walk.pop()


@_on("1")
def _pop_mark(walk: PickleWalk) -> None:
    walk.to_mark()


@_on("2")
def _dup(walk: PickleWalk) -> None:
    walk.stack.append(walk.stack[-1])


@_on("\x98")
def _readonly_buffer(walk: PickleWalk) -> None:
    walk.stack[-1]


@_on("r")
def _long_binput(walk: PickleWalk) -> None:
    walk.remember(walk.number(4))


@_on("\x94")
def _memoize(walk: PickleWalk) -> None:
    walk.remember(len(walk.memo))


@_on("j")
def _long_binget(walk: PickleWalk) -> None:
    walk.recall(walk.number(4))


@_on("p", "g")
def _put_or_get(walk: PickleWalk) -> None:
    code, text = walk.data[walk.op_at], walk.line()
    if len(text) > 10 or not text.isdecimal():
        raise MalformedPickleError(f"the memo entry at byte {walk.op_at} is no number")
    (walk.remember if code == ord("p") else walk.recall)(int(text))


@_on("c")
def _global(walk: PickleWalk) -> None:
    module, name = walk.line(), walk.line()
    walk.stack.append(walk.name(f"{module}.{name}"))


@_on("\x93")
def _stack_global(walk: PickleWalk) -> None:
    name, module = walk.pop(), walk.pop()
    known = isinstance(module, str) and isinstance(name, str)
    walk.stack.append(walk.name(f"{module}.{name}" if known else "a name computed by the pickle itself"))


@_on("i")
def _inst(walk: PickleWalk) -> None:
    module, name = walk.line(), walk.line()
    walk.to_mark()
    walk.call(walk.name(f"{module}.{name}"))


@_on("o")
def _obj(walk: PickleWalk) -> None:
    walk.call(walk.to_mark()[0])


@_on("R", "\x81")
def _reduce(walk: PickleWalk) -> None:
    walk.pop()
    walk.call(walk.pop())


@_on("\x92")
def _newobj_ex(walk: PickleWalk) -> None:
    walk.pop()
    walk.pop()
    walk.call(walk.pop())


@_on("\x82", "\x83", "\x84")
def _extension(walk: PickleWalk) -> None:
    code = walk.number({0x82: 1, 0x83: 2, 0x84: 4}[walk.data[walk.op_at]])
    walk.stack.append(walk.name(f"copyreg extension {code}"))


@_on("Q")
def _binpersid(walk: PickleWalk) -> None:
    walk.persistent(walk.pop())


@_on("P")
def _persid(walk: PickleWalk) -> None:
    walk.persistent(walk.line())

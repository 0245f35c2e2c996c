"""What each opcode of a pickle does to a walk; see pickle_walk for what a walk is and is not.

All opcodes of protocols 0 to 5 are here; a test compares them with Python's own list.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from diagnostics.cache.pickles.values import OPAQUE, Blob, Global, PickleNode
from diagnostics.cache.pickles.walk import MAX_MEMO, MAX_TEXT, Handler, MalformedPickleError, PickleWalk

MIN_BLOB = 128  # no torch file is shorter


def walk_pickle(data: bytes) -> PickleWalk:
    """Returns the walk over the first pickle in `data`. Raises MalformedPickleError."""
    return PickleWalk(data).run(HANDLERS)


HANDLERS: dict[int, Handler] = {}


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
        if size > MAX_TEXT:
            walk.stack.append(Blob(begin, size, text=True))
        else:
            walk.stack.append(walk.data[begin : walk.at].decode("utf-8", "replace"))

    return push


def _bytes(size_bytes: int) -> Handler:
    def push(walk: PickleWalk) -> None:
        size = walk.number(size_bytes)
        walk.stack.append(Blob(walk.at, size) if size > MIN_BLOB else OPAQUE)
        walk.skip(size)

    return push


def _integer(size: int, *, signed: bool = False) -> Handler:
    return lambda walk: walk.stack.append(int.from_bytes(walk.take(size), "little", signed=signed))


def _tuple(size: int) -> Handler:
    def push(walk: PickleWalk) -> None:
        stack = walk.stack
        if len(stack) < size:
            raise IndexError
        stack[-size:] = [tuple(stack[-size:])]

    return push


for _code, _value in {"N": None, "\x88": True, "\x89": False, ")": ()}.items():
    HANDLERS[ord(_code)] = _constant(_value)
HANDLERS[ord("\x97")] = _constant(OPAQUE)  # an out-of-band buffer
for _code, _size in {"X": 4, "\x8c": 1, "\x8d": 8, "U": 1, "T": 4}.items():
    HANDLERS[ord(_code)] = _text(_size)
for _code, _size in {"B": 4, "C": 1, "\x8e": 8, "\x96": 8}.items():
    HANDLERS[ord(_code)] = _bytes(_size)
HANDLERS[ord("J")] = _integer(4, signed=True)
for _code, _size in {"\x85": 1, "\x86": 2, "\x87": 3}.items():
    HANDLERS[ord(_code)] = _tuple(_size)


# The next five make up two thirds of torch's pickles, so they read their byte without a call; past the
# end that is an IndexError, which `run` understands.
@_on("K")
def _binint1(walk: PickleWalk) -> None:
    walk.stack.append(walk.data[walk.at])
    walk.at += 1


@_on("M")
def _binint2(walk: PickleWalk) -> None:
    at = walk.at
    walk.at = at + 2  # first: where one of the two is missing, `run` sees that the pickle ends here
    walk.stack.append(walk.data[at] | walk.data[at + 1] << 8)


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


@_on("]", "}", "\x8f")
def _empty(walk: PickleWalk) -> None:
    walk.stack.append(walk.node())


@_on("l", "\x91")
def _list_to_mark(walk: PickleWalk) -> None:
    items = walk.to_mark()
    walk.stack.append(walk.node())
    _add(walk, items)


@_on("d")
def _dict_to_mark(walk: PickleWalk) -> None:
    items = walk.to_mark()
    walk.stack.append(walk.node())
    _set(walk, items)


@_on("e", "\x90")
def _extend(walk: PickleWalk) -> None:
    _add(walk, walk.to_mark())


@_on("u")
def _setitems(walk: PickleWalk) -> None:
    _set(walk, walk.to_mark())


@_on("a")
def _append(walk: PickleWalk) -> None:
    _add(walk, [walk.pop()])


@_on("s")
def _setitem(walk: PickleWalk) -> None:
    value, key = walk.pop(), walk.pop()
    walk.keep(walk.stack[-1], key, value)


def _add(walk: PickleWalk, values: list[Any]) -> None:
    node = walk.stack[-1]
    begin = node.count if type(node) is PickleNode else 0
    for index, value in enumerate(values, begin):
        walk.keep(node, index, value)


def _set(walk: PickleWalk, items: list[Any]) -> None:
    node = walk.stack[-1]
    for key, value in zip(items[::2], items[1::2], strict=False):
        walk.keep(node, key, value)


@_on("b")
def _build(walk: PickleWalk) -> None:
    state = walk.pop()
    target = walk.stack[-1]
    if isinstance(target, Global):
        walk.flag(f"a change of {target.name} itself")
    walk.keep(target, "", state)


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
    # Four of five opcodes in pickles of hundreds of tensors: what is as it should be is kept without a call.
    at, data, memo = walk.at, walk.data, walk.memo
    slot = int.from_bytes(data[at : at + 4], "little")
    if at + 4 > len(data) or slot > len(data) or len(memo) >= MAX_MEMO:
        walk.remember(walk.number(4))
        return
    walk.at = at + 4
    memo[slot] = walk.stack[-1]


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
    arguments = tuple(walk.to_mark())
    walk.call(walk.name(f"{module}.{name}"), arguments)


@_on("o")
def _obj(walk: PickleWalk) -> None:
    callee, *arguments = walk.to_mark() or (OPAQUE,)
    walk.call(callee, tuple(arguments))


@_on("R", "\x81")
def _reduce(walk: PickleWalk) -> None:
    arguments = walk.pop()
    walk.call(walk.pop(), arguments)


@_on("\x92")
def _newobj_ex(walk: PickleWalk) -> None:
    walk.pop()
    arguments = walk.pop()
    walk.call(walk.pop(), arguments)


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

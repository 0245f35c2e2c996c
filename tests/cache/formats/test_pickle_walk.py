from __future__ import annotations

import os
import pickle
import pickletools
from collections import OrderedDict

import pytest

from diagnostics.cache.pickles import walk as pickle_walk
from diagnostics.cache.pickles.opcodes import HANDLERS, walk_pickle
from diagnostics.cache.pickles.walk import MalformedPickleError, PickleWalk


def test_every_opcode_of_pickle_has_its_handler() -> None:
    known = {ord(opcode.code) for opcode in pickletools.opcodes}
    assert known == {*HANDLERS, pickle_walk.STOP}


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_plain_data_of_every_protocol_ends_at_its_stop_and_is_safe(protocol: int) -> None:
    value = [
        1,
        -5,
        1 << 70,
        2.5,
        "text",
        b"bytes",
        None,
        True,
        (),
        (1,),
        (1, 2, 3, 4),
        {"a": {1, 2}},
        OrderedDict(a=[]),
    ]
    data = pickle.dumps(value, protocol=protocol)
    walk = walk_pickle(data + b"more")
    assert (walk.at, walk.unsafe, walk.storages) == (len(data), {}, {})


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_foreign_callable_is_flagged_in_every_protocol(protocol: int) -> None:
    assert list(walk_pickle(pickle.dumps(os.system, protocol=protocol)).unsafe) == ["posix.system"]


@pytest.mark.parametrize(
    ("data", "unsafe"),
    [
        (b"(S'ls'\nios\nsystem\n.", "os.system"),
        (b"(cos\nsystem\nS'ls'\no.", "os.system"),
        (b"cos\nsystem\nN}\x92.", "os.system"),
        (b"cos\n\nsystem\n0N.", "os."),
        (b"NN\x93.", "a name computed by the pickle itself"),
        (b"](K\x01tR.", "a value computed by the pickle itself"),
        (b"\x82\x05.", "copyreg extension 5"),
    ],
)
def test_every_way_to_call_is_flagged(data: bytes, unsafe: str) -> None:
    try:
        walk = PickleWalk(data)
        walk.run(HANDLERS)
    except MalformedPickleError:
        pass
    assert list(walk.unsafe) == [unsafe]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the pickle ends before its STOP (byte 0)"),
        (b"N", "the pickle ends before its STOP (byte 1)"),
        (b"\xff.", "no opcode 0xff at byte 0"),
        (b"0.", "the pickle takes from an empty stack (byte 0)"),
        (b"t.", "no mark on the stack at byte 0"),
        (b"h\x05.", "memo entry 5 at byte 0 was never stored"),
        (b"X\xff\xff\xff\x7fabc", "an argument of 2147483647 bytes at byte 0 exceeds the pickle"),
        (b"\x8e" + b"\xff" * 8 + b".", "an argument of 18446744073709551615 bytes at byte 0 exceeds the pickle"),
        (b"cos", "a line begun at byte 0 has no end"),
        (b"NQ.", "the persistent id at byte 1 names no storage"),
    ],
)
def test_nonsense_is_refused_with_its_place(data: bytes, message: str) -> None:
    with pytest.raises(MalformedPickleError) as error:
        walk_pickle(data)
    assert str(error.value) == message


def test_a_pickle_of_millions_of_opcodes_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MalformedPickleError, match="more than 2,000,000 opcodes"):
        walk_pickle(b"(" * 2_000_001 + b".")


def test_a_deep_nest_costs_no_recursion() -> None:
    assert walk_pickle(b"N" + b"\x85" * 500_000 + b".").unsafe == {}

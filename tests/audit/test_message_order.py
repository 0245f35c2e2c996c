"""Programs of sends and receives, run against each other: who is left waiting."""

from __future__ import annotations

import ast

import pytest

from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile
from diagnostics.static.spmd.p2p_simulation import Message, MessageKind, run

FUNCTION = Project([ProjectFile("a.py", b"f()", FileKind.PYTHON)]).functions[0]
CALL = ast.Call(ast.Name("f", ast.Load()), [], [])
KINDS = {"s": MessageKind.SEND, "r": MessageKind.RECEIVE, "i": MessageKind.SEND, "j": MessageKind.RECEIVE}


def program(text: str) -> list[Message]:
    """Returns the events of "s1 r1 i1 w b": send, recv, isend (i), irecv (j), wait for the last handle, barrier."""
    events: list[Message] = []
    for word in text.split():
        if word == "b":
            events.append(Message(MessageKind.MEET, CALL, FUNCTION, op="barrier"))
        elif word == "w":
            handle = next(one for one in reversed(events) if not one.blocking)
            events.append(Message(MessageKind.WAIT, CALL, FUNCTION, awaited=handle))
        else:
            peer, _, tag = word[1:].partition("#")
            blocking = word[0] in "sr"
            events.append(Message(KINDS[word[0]], CALL, FUNCTION, int(peer), tag or 0, blocking=blocking))
    return events


def left(*programs: str) -> list[int]:
    return sorted(one.rank for one in run([program(text) for text in programs]).waiting)


@pytest.mark.parametrize(
    "programs",
    [
        ("s1 r1", "r0 s0"),
        ("i1 r1 w", "i0 r0 w"),
        ("j1 s1 w", "j0 s0 w"),
        ("s1 r2", "r0 s2", "r1 s0"),
        ("s1 b", "r0 b"),
        ("s1#7 s1#8", "r0#7 r0#8"),
        ("", ""),
    ],
)
def test_these_programs_end(programs: tuple[str, ...]) -> None:
    assert left(*programs) == []


@pytest.mark.parametrize(
    ("programs", "waiting"),
    [
        (("s1 r1", "s0 r0"), [0, 1]),
        (("r1 s1", "r0 s0"), [0, 1]),
        (("i1 w r1", "i0 w r0"), [0, 1]),
        (("s1 r2", "s2 r0", "s0 r1"), [0, 1, 2]),
        (("s1", ""), [0]),
        (("s1#7", "r0#8"), [0, 1]),
        (("b s1", "r0 b"), [0, 1]),
    ],
)
def test_these_programs_leave_ranks_waiting(programs: tuple[str, ...], waiting: list[int]) -> None:
    assert left(*programs) == waiting


def test_tags_alone_are_told_from_a_missing_half() -> None:
    tags = run([program("s1#7"), program("r0#8")])
    missing = run([program("s1"), program("s0")])
    assert (tags.paired, tags.tags_differ, missing.paired, missing.tags_differ) == (False, True, False, False)


def test_a_collective_that_not_all_reach_is_left_to_other_rules() -> None:
    assert not run([program("b"), program("")]).decided

"""From where ranks went apart to the line that decided it, over small programs."""

from __future__ import annotations

import random
import time

import pytest
from marked_source import marked
from partings import NOTHING, PARTINGS, UNCERTAIN

from diagnostics.core.frame import Frame
from diagnostics.dynamic.divergence.divergence import DivergencePoint, DivergenceQuery, PointKind, ProgramPoint
from diagnostics.dynamic.divergence.localisation import divergence_points, is_unique
from diagnostics.static.program.source_file import SourceStore

MOST_S = 2.0  # of CPU; 0.2 s on an idle machine


def shown(decision: DivergencePoint) -> str:
    return f"{decision.frame.file.removeprefix('/job/')}:{decision.frame.line}"


@pytest.mark.parametrize("name", PARTINGS)
def test_the_decision_is_named_first_and_not_the_wait(name: str) -> None:
    kind, text = PARTINGS[name]
    job = marked(text)
    found = divergence_points(job.sources, job.parting)
    first = [(shown(one), str(one.kind)) for one in found[:1]]
    assert first == [(job.first[0], kind)], found
    assert set(job.also) <= {shown(one) for one in found}, found


@pytest.mark.parametrize("name", NOTHING)
def test_where_nothing_can_be_said_nothing_is(name: str) -> None:
    job = marked(NOTHING[name])
    assert divergence_points(job.sources, job.parting) == ()


@pytest.mark.parametrize("name", PARTINGS)
def test_a_decision_is_certain_where_it_is_alone_or_leads(name: str) -> None:
    job = marked(PARTINGS[name][1])
    assert is_unique(divergence_points(job.sources, job.parting)) is (name not in UNCERTAIN)


@pytest.mark.parametrize("name", PARTINGS)
def test_the_roles_of_here_and_there_do_not_change_the_decision(name: str) -> None:
    job = marked(PARTINGS[name][1])
    one = job.parting
    turned = DivergenceQuery(
        agreed=one.agreed, here=one.there, here_at=one.there_at, there=one.here, there_at=one.here_at, caught=one.caught
    )
    assert [shown(d) for d in divergence_points(job.sources, turned)[:1]] == [job.first[0]]


def test_a_function_of_two_thousand_lines_is_quick() -> None:
    turns = "".join(
        f"        if cfg.a{n}:\n            x = f{n}(x)\n            y[{n}] = x + 1\n        g(x)\n" for n in range(500)
    )
    text = (
        "import torch.distributed as dist\ndef main():\n    for s in range(9):\n        dist.all_reduce(x)  # A1 T1\n"
        f"{turns}        if rank == 0:  # first\n            dist.barrier()  # H1\nmain()  # A0 H0 T0\n"
    )
    job = marked(text)
    begin = time.process_time()
    found = divergence_points(job.sources, job.parting)
    assert time.process_time() - begin < MOST_S
    assert shown(found[0]) == job.first[0]


def test_a_deep_recursion_is_quick() -> None:
    text = "def walk(n):\n    if n == rank:\n        dist.barrier()\n    walk(n + 1)\n    dist.all_reduce(x)\nwalk(0)\n"
    sources = SourceStore("/job", {"/job/a.py": text}, frozenset())

    def at(line: int, depth: int) -> ProgramPoint:
        inner = Frame(file="/job/a.py", line=line, function="walk")
        around = (Frame(file="/job/a.py", line=4, function="walk"),) * depth
        return ProgramPoint(
            way=PointKind.CALL, op="", path=(inner, *around, Frame(file="/job/a.py", line=6, function="<module>"))
        )

    parting = DivergenceQuery(agreed=at(3, 300), here=(0,), here_at=at(3, 450), there=(1,), there_at=at(5, 500))
    begin = time.process_time()
    divergence_points(sources, parting)
    assert time.process_time() - begin < MOST_S


def test_random_programs_and_stacks_never_raise() -> None:
    chance = random.Random(7)
    for _ in range(60):
        text = "".join(_block(chance, 0)) + "dist.barrier()\n"
        sources = SourceStore("/job", {"/job/a.py": text}, frozenset())
        lines = text.count("\n")

        def place(lines: int = lines) -> ProgramPoint:
            depth = chance.randrange(4)
            frames = tuple(
                Frame(
                    file="/job/a.py", line=chance.randint(0, lines + 2), function=chance.choice(("f", "<module>", "g"))
                )
                for _ in range(depth)
            )
            return ProgramPoint(way=chance.choice(list(PointKind)), op=chance.choice(("", "barrier")), path=frames)

        parting = DivergenceQuery(
            agreed=chance.choice((None, place())), here=(0,), here_at=place(), there=(1,), there_at=place()
        )
        found = divergence_points(sources, parting)
        assert isinstance(is_unique(found), bool)


_SIMPLE = [
    "dist.all_reduce(x)", "f()", "g(x)", "x = rank", "return", "raise ValueError", "y = [f(i) for i in x if g(i)]",
    "z = f() if rank else g()", "a and b or f()", "yield x", "sys.exit(1)", "lambda: f()", "with q: pass", "x[0] = f()",
    "del x", "import os", "assert f(), g()", "x = (yield)", "w = f(*x, **y)", "async_ = {k: f(k) for k in x}",
]  # fmt: skip
_BLOCKS = [
    "if {0}:", "while {0}:", "for i in {0}:", "try:", "with {0} as q:", "def f(a=1, *b, **c):", "class C({0}):",
    "for a, b in enumerate({0}):", "while True:",
]  # fmt: skip


def _block(chance: random.Random, depth: int) -> list[str]:
    pad = "    " * depth
    made: list[str] = []
    inside = depth > 0
    for _ in range(chance.randint(1, 4)):
        if depth > 4 or chance.random() < 0.5:
            simple = chance.choice(_SIMPLE)
            needs = ("return", "yield", "(yield)")
            made.append(f"{pad}{'pass' if not inside or any(word in simple for word in needs) else simple}\n")
            continue
        head = chance.choice(_BLOCKS).format(chance.choice(("f()", "x", "rank == 0", "not g(x)")))
        made += [f"{pad}{head}\n", *_block(chance, depth + 1)]
        if head == "try:":
            made += [f"{pad}except {chance.choice(('', 'OSError', 'Exception'))}:\n", *_block(chance, depth + 1)]
            if chance.random() < 0.5:
                made += [f"{pad}finally:\n", *_block(chance, depth + 1)]
        elif head.startswith(("for", "while", "if")) and chance.random() < 0.3:
            made += [f"{pad}else:\n", *_block(chance, depth + 1)]
    return made

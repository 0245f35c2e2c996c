"""Which tests of a program can come out differently on its ranks: what reaches them, and what only seems to."""

from __future__ import annotations

import ast

import pytest

from diagnostics.static.dataflow.rank_taint import RankTaint
from diagnostics.static.program.call_graph import CallGraph
from diagnostics.static.program.source_file import SourceStore

ASKED = "    if a:\n        pass\n"
PAIR = "def pair():\n    return get_rank(), 4\ndef f():\n"
TAINTED = {
    "set before": f"def f(rank):\n    a = rank\n{ASKED}",
    "set later in a loop around": (
        "def f(rank):\n    a = 0\n    for _ in x:\n        if a:\n            y()\n        a = rank\n"
    ),
    "an item that is the rank": f"{PAIR}    a, n = pair()\n{ASKED}",
    "an item, where another return is no tuple": (
        f"def w():\n    while q:\n        return both()\n    return get_rank(), 4\ndef f():\n    n, a = w()\n{ASKED}"
    ),
    "moved, and different before": f"def f(rank):\n    a = torch.ones(rank).cuda()\n{ASKED}",
    "counted through its own name": f"def f(rank):\n    n = rank\n    a = [n for n in range(n)]\n{ASKED}",
    "counted through each other's names": (
        f"def f(rank):\n    a = [k for k in range(m)] + [m for m in range(k)] + [i for i in range(rank)]\n{ASKED}"
    ),
    "a setting of another name": f"def f(rank):\n    a = {{}}\n    a['seed'] = rank\n{ASKED}",
}
EQUAL = {
    "set later": f"def f(rank, a=None):\n{ASKED}    a = rank\n",
    "counted through its own name": f"def f(n):\n    a = [n for n in range(n)]\n{ASKED}",
    "counted through each other": f"def f(i, j):\n    a = [i for i in range(j) for j in range(i)]\n{ASKED}",
    "a loop through all ranks": f"def f(rank):\n    a = [\n        rank\n        for rank in range(4)\n    ]\n{ASKED}",
    "an item that is none": f"{PAIR}    n, a = pair()\n{ASKED}",
    "moved to a device of the rank": f"def f(rank):\n    a = build().to(rank)\n{ASKED}",
    "wrapped with a device of the rank": f"def f(rank):\n    a = DDP(build(), device_ids=[rank])\n{ASKED}",
    "a device among settings": f"def f(rank):\n    a = {{'device_ids': [rank]}}\n{ASKED}",
    "a device put among settings": f"def f(rank):\n    a = {{}}\n    a['device_ids'] = [rank]\n{ASKED}",
}


def reason(text: str) -> str | None:
    """Why the one test of function f can differ."""
    graph = CallGraph(SourceStore("/job", {"/job/a.py": text}, frozenset()), ("/job/a.py",))
    (function,) = (one for one in graph.functions if one.name == "f")
    (test,) = (node.test for node in function.own_nodes if isinstance(node, ast.If))
    found = RankTaint(graph).of(test, function)
    return found.why if found is not None else None


@pytest.mark.parametrize("name", TAINTED)
def test_what_comes_from_the_rank_differs(name: str) -> None:
    assert reason(TAINTED[name]) == "rank"


@pytest.mark.parametrize("name", EQUAL)
def test_what_the_rank_does_not_reach_is_equal(name: str) -> None:
    assert reason(EQUAL[name]) is None

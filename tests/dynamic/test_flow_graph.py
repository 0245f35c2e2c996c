"""The control-flow graph of Python source: which lines can follow which."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

from diagnostics.static.program.cfg import ControlFlowGraph, FunctionSyntax
from diagnostics.static.program.cfg_builder import build


def followers(text: str) -> dict[int, set[int]]:
    """Returns for each line of a module the lines that can follow it: 0 its end, -1 an exception, -2 an exit."""
    graph = build(ast.parse(text))
    return {line: _next_lines(graph, line) for line in range(1, text.count("\n") + 1)}


def _next_lines(graph: ControlFlowGraph, line: int) -> set[int]:
    ends = {graph.returned: 0, graph.raised: -1, graph.exited: -2, graph.gone: -3}
    found, seen = set(), set()
    reachable = _reachable(graph)
    waiting = [node.index for node in graph.nodes if node.line == line and node.index in reachable]
    while waiting:
        index = waiting.pop()
        for edge in graph.nodes[index].edges:
            to = graph.nodes[edge.to]
            if to.index in ends:
                found.add(ends[to.index])
            elif to.line and to.line != line:
                found.add(to.line)
            elif to.index not in seen:
                seen.add(to.index)
                waiting.append(to.index)
    return found


def _reachable(graph: ControlFlowGraph) -> set[int]:
    found, waiting = {0}, [0]
    while waiting:
        for edge in graph.nodes[waiting.pop()].edges:
            if edge.to not in found:
                found.add(edge.to)
                waiting.append(edge.to)
    return found


CASES: dict[str, tuple[str, dict[int, set[int]]]] = {
    "if, elif, else": (
        "if a:\n    x = 1\nelif b:\n    x = 2\nelse:\n    x = 3\ny = 4\n",
        {1: {2, 3}, 2: {7}, 3: {4, 6}, 4: {7}, 6: {7}, 7: {0}},
    ),
    "while, break, else": (
        "while a:\n    if b:\n        break\n    x = 1\nelse:\n    y = 2\nz = 3\n",
        {1: {2, 6}, 2: {3, 4}, 3: {7}, 4: {1}, 6: {7}, 7: {0}},
    ),
    "for, continue": (
        "for i in x:\n    if i:\n        continue\n    y = 1\n",
        {1: {2, 0, -1}, 2: {3, 4}, 3: {1}, 4: {1}},
    ),
    "a loop for ever is left by break alone": (
        "while True:\n    if b:\n        break\n",
        {1: {2}, 2: {3, 1}, 3: {0}},
    ),
    "try, except, else": (
        "try:\n    f()\nexcept ValueError:\n    x = 1\nelse:\n    y = 2\n",
        {2: {1, 6}, 3: {4}, 4: {0}, 6: {0}},
    ),
    "a handler for everything lets nothing out": (
        "try:\n    f()\nexcept Exception:\n    x = 1\n",
        {1: {3}, 2: {1, 0}, 3: {4}, 4: {0}},
    ),
    "finally runs on every way": (
        "try:\n    f()\nfinally:\n    x = 1\ny = 2\n",
        {2: {4}, 4: {5, -1}, 5: {0}},
    ),
    "with that suppresses": (
        "with suppress(ValueError):\n    f()\nx = 1\n",
        {1: {2, 3, -1}, 2: {1, 3}, 3: {0}},
    ),
    "exit and raise": (
        "if a:\n    sys.exit(1)\nif b:\n    os._exit(2)\nraise ValueError\n",
        {1: {2, 3}, 2: {-2}, 3: {4, 5}, 4: {-3}, 5: {-1}},
    ),
    "match": (
        "match a:\n    case 1:\n        x = 1\n    case _:\n        x = 2\ny = 3\n",
        {2: {3, 4}, 3: {6}, 4: {5}, 5: {6}, 6: {0}},
    ),
    "what `and` and a conditional expression guard": (
        "(a\n and f()\n)\nx = (f()\n  if a\n  else g())\n",
        {1: {2, 5}, 2: {1, -1}, 4: {-1, 0}, 5: {4, 6}, 6: {-1, 4}},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_which_lines_follow_which(name: str) -> None:
    text, expected = CASES[name]
    found = followers(text)
    assert {line: found[line] for line in expected} == expected


def test_the_standard_library_has_graphs() -> None:
    files = sorted(Path(os.__file__).parent.glob("*.py"))[::12]
    for file in files:
        tree = ast.parse(file.read_text(encoding="utf-8", errors="replace"))
        for node in ast.walk(tree):
            if isinstance(node, FunctionSyntax):
                graph = build(node)
                assert not graph.truncated
                assert all(0 <= edge.to < len(graph.nodes) for one in graph.nodes for edge in one.edges)


def test_very_deep_nesting_is_cut_and_said() -> None:
    deep = "".join("    " * depth + "if a:\n" for depth in range(90)) + "    " * 90 + "f()\n"
    assert not build(ast.parse(deep)).truncated
    tree = ast.parse("f()")
    inner: ast.stmt = tree.body[0]
    for _ in range(200):
        inner = ast.If(test=ast.Name("a", ast.Load(), lineno=1, col_offset=0), body=[inner], orelse=[], lineno=1)
    assert build(ast.Module(body=[inner], type_ignores=[])).truncated

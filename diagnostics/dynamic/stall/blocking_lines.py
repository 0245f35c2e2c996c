"""What the source says about the line at which a thread stands: what it calls, the loop around it, what ends that loop.

Pure; a file that cannot be read answers nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import UnionType

from diagnostics.static.program.ast_walk import children, walk
from diagnostics.static.program.exception_flow import spans
from diagnostics.static.program.source_file import SourceFile

Loop = ast.While | ast.For | ast.AsyncFor
_SLEEPS = re.compile(r"(?:^|\.)sleep$")
_TRAINS = re.compile(r"(?:^|\.)(?:backward|zero_grad|training_step|train_step)$|optim\w*\.step$|scaler\.step$")
_UNLIMITED = re.compile(r"(?:^|\.)(?:iter|count|cycle|repeat)$")  # what a `for` can go through for ever
_GOES_ON = ast.Break | ast.Return
_GIVES_UP = ast.Raise
_SHOWN = 80  # characters of a condition
_LARGE = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopExit:
    """How a loop can end: the line that decides, and in words for how long: 'while "..." holds'."""

    line: int
    words: str
    never: bool = False  # nothing in the source ends it
    by_itself: bool = False  # it goes through a collection, and ends with that


def calls_at(source: SourceFile, line: int) -> tuple[str, ...]:
    """Returns the names of what a line calls or enters with `with`, as written: "time.sleep", "lock.acquire"."""
    if source.tree is None:
        return ()
    names = []
    for node in walk(source.tree):
        if isinstance(node, ast.Call) and spans(node, line):
            names.append(dotted(node.func))
        elif isinstance(node, ast.With | ast.AsyncWith):
            names += [f"with {dotted(item.context_expr)}" for item in node.items if spans(item.context_expr, line)]
    return tuple(name for name in names if name)


def dotted(node: ast.AST) -> str:
    """Returns "self.queue.get" of such an expression; of a call what it calls; "" of others."""
    if isinstance(node, ast.Call):
        return dotted(node.func)
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return f"{before}.{node.attr}" if before else node.attr
    if isinstance(node, ast.Subscript):
        return dotted(node.value)
    return ""


def lock_at(source: SourceFile, line: int) -> str:
    """Returns the name of the lock that a line takes, as written: "self.lock" of `with self.lock:`; "" of another."""
    if source.tree is None:
        return ""
    for node in walk(source.tree):
        if isinstance(node, ast.With | ast.AsyncWith):
            taken = [item.context_expr for item in node.items if spans(item.context_expr, line)]
            if taken and not isinstance(taken[0], ast.Call):
                return dotted(taken[0])
        called = node.func if isinstance(node, ast.Call) and spans(node, line) else None
        if isinstance(called, ast.Attribute) and called.attr == "acquire":
            return dotted(called.value)
    return ""


def taken_at(source: SourceFile, line: int, lock: str) -> int | None:
    """Returns the line of the same function that took a lock of this name and has it where a line runs, else None.

    That is a `with` whose body holds the line, or a call of acquire() that always runs before it.
    """
    name = lock.rpartition(".")[2]
    blocks = walk(source.function_at(line) or source.tree) if source.tree is not None else ()
    taken = [found for block in blocks for found in _taken_in(block, line, name)]
    return max(taken, default=None)


def _taken_in(block: ast.AST, line: int, name: str) -> Iterator[int]:
    """Yields the lines by which a lock was taken that is still held at a line of the block."""
    lists = [part for _, part in ast.iter_fields(block) if isinstance(part, list)]
    held = next((part for part in lists if any(isinstance(one, ast.stmt) and spans(one, line) for one in part)), [])
    if held and isinstance(block, ast.With | ast.AsyncWith) and block.lineno < line:
        taken = (dotted(item.context_expr).rpartition(".")[2] for item in block.items)
        yield from (block.lineno for one in taken if one == name)
    done = [(one.lineno, change) for one in held if one.end_lineno < line and (change := _change_of(one, name))]
    if done and done[-1][1] == "acquire":
        yield done[-1][0]


def _change_of(statement: ast.stmt, name: str) -> str:
    """Returns "release" of a statement that may release a lock, "acquire" of one that surely takes it, else ""."""
    calls = [node for node in walk(statement) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    own = [call for call in calls if dotted(call.func).split(".")[-2:-1] == [name]]
    if any(dotted(call.func).endswith(".release") for call in own):
        return "release"
    surely = isinstance(statement, ast.Expr) and any(
        call is statement.value and not call.args and not call.keywords and dotted(call.func).endswith(".acquire")
        for call in own
    )
    return "acquire" if surely else ""


def loop_at(source: SourceFile, lines: Sequence[int]) -> Loop | None:
    """Returns the innermost loop of their function whose turns hold all these lines; no loop that trains."""
    function = source.function_at(lines[0]) if lines else None
    inside = walk(function or source.tree) if source.tree is not None else ()
    loops = [
        node
        for node in inside
        if isinstance(node, Loop) and all(_turns_hold(node, line) for line in lines) and not trains(node)
    ]
    return max(loops, key=lambda node: node.lineno, default=None)


def trains(loop: ast.AST) -> bool:
    """Whether a loop is the one that trains, by what it calls."""
    return any(isinstance(node, ast.Call) and _TRAINS.search(dotted(node.func)) for node in walk(loop))


def nap_of(source: SourceFile, line: int) -> float | None:
    """Returns how long the line sleeps, in seconds; None where that is not written as a number."""
    for node in walk(source.tree) if source.tree is not None else ():
        if isinstance(node, ast.Call) and spans(node, line) and _SLEEPS.search(dotted(node.func)) and node.args:
            return _number(node.args[0])
    return None


def _number(node: ast.expr) -> float | None:
    """Returns 3600.0 of `3600` and `60 * 60`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Pow):
        left, right = _number(node.left), _number(node.right)
        if left is not None and right is not None and abs(left) < _LARGE and abs(right) < _LARGE:
            return left * right if isinstance(node.op, ast.Mult) else left ** min(right, 9.0)
    return None


def loop_exit(loop: Loop) -> LoopExit:
    """Returns what ends a loop: its own condition, else that of the `if` with a break, return or raise in it."""
    if isinstance(loop, ast.While) and not _always(loop.test):
        return LoopExit(line=loop.lineno, words=f'while "{_short(loop.test)}" holds')
    for kinds in (_GOES_ON, _GIVES_UP):  # what is waited for, before the patience with it
        for node in _of_turn(loop.body):
            if isinstance(node, ast.If) and any(_leaves(one, kinds) for one in (*node.body, *node.orelse)):
                return LoopExit(line=node.lineno, words=f'until "{_short(node.test)}"')
            if isinstance(node, ast.Try) and any(_leaves(one, kinds) for one in (*node.body, *node.orelse)):
                return LoopExit(line=node.body[0].lineno, words=f'until "{_short(node.body[0])}" works')
    if isinstance(loop, ast.For | ast.AsyncFor):
        by_itself = not _UNLIMITED.search(dotted(loop.iter))
        return LoopExit(line=loop.lineno, words=f'for each of "{_short(loop.iter)}"', by_itself=by_itself)
    return LoopExit(line=loop.lineno, words="without an end", never=True)


def _short(node: ast.AST) -> str:
    words = " ".join(ast.unparse(node).partition("\n")[0].split())
    return words if len(words) <= _SHOWN else f"{words[: _SHOWN - 3]}..."


def _turns_hold(loop: Loop, line: int) -> bool:
    """Whether a line is run in each turn: in its body, or in the condition of a while."""
    return any(spans(one, line) for one in loop.body) or (isinstance(loop, ast.While) and spans(loop.test, line))


def _always(test: ast.expr) -> bool:
    return isinstance(test, ast.Constant) and bool(test.value)


def _leaves(statement: ast.stmt, kinds: type | UnionType) -> bool:
    return any(isinstance(node, kinds) for node in _of_turn([statement]))


def _of_turn(statements: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """Yields the nodes of a loop's turn in the order of the source, without loops and functions inside it."""
    waiting: list[ast.AST] = list(statements)
    while waiting:
        node = waiting.pop(0)
        yield node
        if not isinstance(node, Loop | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting = [*children(node), *waiting]

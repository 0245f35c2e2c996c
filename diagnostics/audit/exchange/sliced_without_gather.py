"""A rank takes its slice of what it computed for its own samples alone, as if all ranks' were in it.

What it does: flags `x[rank * len(samples) : (rank + 1) * len(samples)]`, also through a `slice(...)` with a name, where
x was worked out from those samples of this rank, and nothing on the way gathered, received or read anything else.

Why it matters: x has as many rows as this rank has samples. Rank 0 takes all of them; every other rank begins behind
the end and gets an empty tensor, without an error. Then shapes do not fit, or the mean of nothing makes the loss NaN,
while rank 0 waits.

Bad:

    rewards = score(completions)
    own = slice(rank * len(prompts), (rank + 1) * len(prompts))
    advantages = normalised(rewards)[own]

Good:

    rewards = gather(score(completions))
    own = slice(rank * len(prompts), (rank + 1) * len(prompts))
    advantages = normalised(rewards)[own]

What it cannot see: what methods of a library's base class give, which may have gathered it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow import rank_words
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A238"
NAME = "sliced-without-gather"
SEVERITY = Severity.ERROR
CHECKLIST = "a rank's slice is taken of what was gathered"
# Calls that may give what other ranks have. `x.gather(dim, index)` is among them; it only keeps the rule silent.
_SHARES = re.compile(
    r"gather|reduce|broadcast|scatter|all_?to_?all|sync|exchange|collect|recv|receive|share|merge|global",
    re.IGNORECASE,
)
_PLACES = ("_prepare_inputs", "_prepare_input")  # transformers.Trainer puts a batch on the device
_FILLS = ("append", "extend", "copy_", "add_")
_DEPTH = 3
_MOST = 60


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the slices of what only this rank has."""
    if file.is_test or file.words.isdisjoint(("len", "shape", "size")):
        return
    for function in project.functions_in(file):
        for node in function.nodes_of(ast.Subscript):
            if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
                continue
            cut = _cut(node.slice, function)
            samples = _counted(cut, function) if cut is not None else None
            if cut is None or samples is None:
                continue
            rows, own = _Provenance(project), _Provenance(project)
            if not rows.is_own(node.value, function, _DEPTH) or not own.is_own(samples, function, _DEPTH):
                continue
            if own.roots and own.roots <= rows.roots:
                yield violation(
                    file,
                    node,
                    f"{ast.unparse(node.value)} holds what this rank computed for its own {ast.unparse(samples)}, and "
                    "is sliced as if it held that of all ranks: every rank but the first gets nothing",
                    "gather it over the ranks first, or take all of it",
                    steps=(step(file, cut, "where this rank's part would begin in what all ranks have"),),
                    confidence=Confidence.LIKELY,
                )
                break


def _cut(index: ast.expr, function: Function) -> ast.expr | None:
    """Returns where a slice begins."""
    if isinstance(index, ast.Tuple) and index.elts:
        index = index.elts[0]
    if isinstance(index, ast.Name):
        made = function.assigned.get(index.id, ())
        index = made[0] if len(made) == 1 else index
    match index:
        case ast.Slice(lower=ast.expr() as lower, upper=ast.expr()):
            return _named(lower, function)
        case ast.Call(func=ast.Name(id="slice"), args=[lower, _]):
            return _named(lower, function)
        case _:
            return None


def _named(value: ast.expr, function: Function) -> ast.expr:
    made = function.assigned.get(value.id, ()) if isinstance(value, ast.Name) else ()
    return made[0] if len(made) == 1 else value


def _counted(cut: ast.expr, function: Function) -> ast.expr | None:
    """Returns the samples of which `rank * len(samples)` counts."""
    if not isinstance(cut, ast.BinOp) or not isinstance(cut.op, ast.Mult):
        return None
    for rank, count in ((cut.left, cut.right), (cut.right, cut.left)):
        if rank_words.OWN_RANK.match(last_name(rank)):
            match _named(count, function):
                case ast.Call(func=ast.Name(id="len"), args=[samples]):
                    return samples
                case ast.Call(func=ast.Attribute(value=samples, attr="size"), args=[ast.Constant(value=0)]):
                    return samples
                case ast.Subscript(value=ast.Attribute(value=samples, attr="shape"), slice=ast.Constant(value=0)):
                    return samples
    return None


@dataclass
class _Provenance:
    """What a value was made of: `roots` are the parameters and loop items that it comes to."""

    project: Project
    roots: set[tuple[int, str]] = field(default_factory=set)
    _seen: set[tuple[int, str]] = field(default_factory=set)

    def is_own(self, value: ast.expr, function: Function, depth: int) -> bool:
        """Whether nothing that a value was made of can have come from another rank."""
        for node in walk(value):
            if isinstance(node, ast.Call) and not self._is_own_call(node, function, depth):
                return False
            if isinstance(node, (ast.Name, ast.Attribute)) and _speaks_of_all(last_name(node)):
                return False
            if isinstance(node, ast.Attribute) and not self._is_own_attribute(node, function):
                return False
            is_read = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
            if is_read and not self._is_own_name(last_name(node), function, depth):  # type: ignore[arg-type] # a Name
                return False
        return len(self._seen) < _MOST

    def _is_own_call(self, call: ast.Call, function: Function, depth: int) -> bool:
        if _SHARES.search(last_name(call.func)):
            return False
        targets = self.project.targets(call, function)
        base = last_name(call.func.value) if isinstance(call.func, ast.Attribute) else ""
        method = last_name(call.func)
        if not targets and base in ("self", "cls", "super") and method.startswith("_") and method not in _PLACES:
            return False  # a method of a base class that is not seen
        return all(_keeps_to_itself(one, self.project, depth) for one in targets)

    def _is_own_attribute(self, node: ast.Attribute, function: Function) -> bool:
        return not any(
            _SHARES.search(last_name(one))
            for value, _ in self.project.attribute_values(node, function)
            for one in walk(value)
            if isinstance(one, ast.Call)
        )

    def _is_own_name(self, name: str, function: Function, depth: int) -> bool:
        key = (id(function), name)
        if key in self._seen:
            return True
        self._seen.add(key)
        if _is_filled_by_others(name, function):
            return False
        made = [*function.assigned.get(name, ()), *_stored_in(name, function), *_looped_over(name, function)]
        if name in function.parameters:
            self.roots.add(key)
            made_by = [(value, caller) for value, caller in self.project.arguments(name, function)] if depth else []
            return all(_is_own_argument(value, caller, self.project, depth - 1) for value, caller in made_by)
        return all(self.is_own(one, function, depth) for one in made)


def _is_own_argument(value: ast.expr, caller: Function, project: Project, depth: int) -> bool:
    return _Provenance(project).is_own(value, caller, depth)


def _speaks_of_all(name: str) -> bool:
    return bool(rank_words.WORLD_SIZE.match(name)) or name.lower().startswith(("all_", "global_", "total_"))


def _keeps_to_itself(function: Function, project: Project, depth: int) -> bool:
    """Whether nothing that a function calls can have to do with other ranks."""
    for call in function.nodes_of(ast.Call):
        assert isinstance(call, ast.Call)  # noqa: S101 (asked for by kind)
        if _SHARES.search(last_name(call.func)) and not _picks(call):
            return False
        if depth and not all(_keeps_to_itself(one, project, depth - 1) for one in project.targets(call, function)):
            return False
    return True


def _picks(call: ast.Call) -> bool:
    """Whether it is the method of a tensor that picks by an index: `logits.gather(2, ids)`."""
    return isinstance(call.func, ast.Attribute) and call.func.attr == "gather" and len(call.args) == 2


def _stored_in(name: str, function: Function) -> Iterator[ast.expr]:
    """Yields what is put into what has a name: `rewards[:, i] = score(...)`, `rewards.append(x)`, `rewards += x`."""
    for node in function.nodes_of((ast.Assign, ast.AugAssign, ast.Call)):
        match node:
            case ast.Assign(targets=targets, value=value):
                if any(isinstance(one, ast.Subscript) and last_name(one.value) == name for one in targets):
                    yield value
            case ast.AugAssign(target=ast.Name(id=held) | ast.Subscript(value=ast.Name(id=held)), value=value):
                if held == name:
                    yield value
            case ast.Call(func=ast.Attribute(value=ast.Name(id=held), attr=method), args=args):
                if held == name and method in _FILLS:
                    yield from args


def _looped_over(name: str, function: Function) -> Iterator[ast.expr]:
    for node in function.nodes_of((ast.For, ast.comprehension)):
        target, over = getattr(node, "target", None), getattr(node, "iter", None)
        if target is not None and over is not None and any(_is_named(one, name) for one in walk(target)):
            yield over


def _is_named(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_filled_by_others(name: str, function: Function) -> bool:
    """Whether a call that gives nothing back has to do with a name and with other ranks: `all_gather(parts, x)`."""
    return any(
        isinstance(node.value, ast.Call)
        and _SHARES.search(last_name(node.value.func))
        and any(_is_named(one, name) for one in walk(node.value))
        for node in function.nodes_of(ast.Expr)
        if isinstance(node, ast.Expr)
    )

"""Decisions that code of the project took for a library that runs its loop: in callbacks, overridden methods, loaders.

The ranks stand in library code, called from one line of the project. What parted them happened in what the library
called back: it set a flag that the library reads, made a call that communicates, returned something else, or gave the
library a loader of another length. Which of these it was, no stack shows: nothing here is certain. Pure.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from diagnostics.core.frame import Frame
from diagnostics.dynamic.divergence.candidates import decision, is_rank_gated, origin
from diagnostics.dynamic.divergence.divergence import DivergencePoint, StatementKind
from diagnostics.dynamic.divergence.search_states import SearchTarget
from diagnostics.static.dataflow.rank_taint import RankTaint
from diagnostics.static.dataflow.taint_sources import LOSS, RANDOM, RANK, TIME, Taint
from diagnostics.static.program.ast_walk import children
from diagnostics.static.program.call_graph import CallGraph, Function, last_name

MOST_DEPTH = 3  # calls below a callback
_PLAIN = 14  # a test of which nothing is known
_FLAG, _COMMUNICATES, _RETURNS, _LOADER = 12, 12, 4, 8
_FITS, _FITS_NOT = 10, -8
# Bases that only make a class what it is; no loop calls back into them.
_NO_LOOPS = re.compile(r"^(?:object|Module|ABC|Generic|Protocol|NamedTuple|TypedDict|\w*Enum|\w*Exception|\w*Error)$")
_LIBRARY = re.compile(r"/(?:site|dist)-packages/(?!torch/)")
_RUNS = re.compile(r"fit|train|run|eval|valid|predict|test|launch|loop|lr_find", re.IGNORECASE)
_COMMUNICATING = re.compile(
    r"^(?:save_(?:checkpoint|state|model|pretrained)|load_(?:checkpoint|state)|barrier|wait_for_everyone|all_gather\w*"
    r"|all_reduce|broadcast\w*|gather\w*|reduce\w*|evaluate|validate|predict|test|fit|train|manual_backward|backward"
    r"|training_step|sync\w*|pad_across_processes|state_dict)$"
)
_LOADERS = re.compile(r"(?:Data)?Loader$")
_LIBRARY_OBJECTS = {"trainer", "control", "state", "accelerator", "engine"}
_ONLY_CONTENT = {RANDOM, TIME, LOSS}  # another order or other values, no other length
_LENGTH_OF = {"dataset", "sampler", "batch_sampler"}


def callback_causes(here: SearchTarget, there: SearchTarget, taints: RankTaint) -> Iterator[DivergencePoint]:
    """Yields what may have made a library part two ranks, with scores; nothing where no library holds one of them."""
    if not any(_runs_loop(goal.stack.hidden) for goal in (here, there)):
        return
    left = here.stack.lines != there.stack.lines  # one is through with what the library does, the other not
    for function in _called_back(taints.program):
        yield from _decorated(function, taints.program)
        for node in function.own_nodes:
            if isinstance(node, ast.If):
                yield from _branch(node, function, taints, left=left)
            elif isinstance(node, ast.Assign):
                yield from _flag(node, function, taints, left=left)
            elif isinstance(node, (ast.For, ast.AsyncFor)):
                yield from _loop(node, function, taints, left=left)
    for function in taints.program.functions:
        for node in function.nodes_of(ast.Call):
            if isinstance(node, ast.Call) and _LOADERS.search(last_name(node.func)):
                yield from _loader(node, function, taints)


def _runs_loop(frame: Frame | None) -> bool:
    """Whether this is a function of a library that calls back into the project until its work is done."""
    if frame is None or _LIBRARY.search(frame.file) is None:
        return False
    return _RUNS.search(frame.function.rpartition(".")[2]) is not None


def _called_back(program: CallGraph) -> list[Function]:
    """Returns the functions of the project that a library may call, and those that they call."""
    found = dict.fromkeys([*_overriding(program), *_handed_over(program)])
    waiting = [(one, 0) for one in found]
    while waiting:
        function, depth = waiting.pop()
        calls = (
            (node for node in function.nodes_of(ast.Call) if isinstance(node, ast.Call)) if depth < MOST_DEPTH else ()
        )
        for one in [target for call in calls for target in program.targets(call, function)]:
            if one not in found:
                found[one] = None
                waiting.append((one, depth + 1))
    return list(found)


def _overriding(program: CallGraph) -> Iterator[Function]:
    """Yields the methods of classes that derive from one of a library."""
    for function in program.functions:
        if function.owner is not None and _of_library(function.owner, program):
            yield function


def _of_library(kind: ast.ClassDef, program: CallGraph, depth: int = 4) -> bool:
    for base in kind.bases:
        name = last_name(base.value if isinstance(base, ast.Subscript) else base)
        own = program.classes.get(name, ())
        if not own and name and not _NO_LOOPS.match(name):
            return True
        if depth and any(_of_library(one, program, depth - 1) for _, one in own if one is not kind):
            return True
    return False


def _handed_over(program: CallGraph) -> Iterator[Function]:
    """Yields the functions that are passed to calls of which the project has no source."""
    for function in program.functions:
        for node in function.own_nodes:
            if not isinstance(node, ast.Call) or program.targets(node, function):
                continue
            for value in (*node.args, *(one.value for one in node.keywords)):
                if isinstance(value, (ast.Name, ast.Lambda, ast.Attribute)):
                    yield from program.meant(value, function)


def _decorated(function: Function, program: CallGraph) -> Iterator[DivergencePoint]:
    decorators = getattr(function.syntax, "decorator_list", ())
    for decorator in decorators if _effects(function.own_nodes, function, program) else ():
        if is_rank_gated(last_name(decorator)):
            taint = Taint(RANK, function.file, decorator.lineno, function.name)
            score = taint.weight + _COMMUNICATES
            yield decision(function, decorator.lineno, StatementKind.BRANCH, taint, score)


def _branch(node: ast.If, function: Function, taints: RankTaint, *, left: bool) -> Iterator[DivergencePoint]:
    """Yields a test on which depends what the library is told, or which of its calls are made."""
    taint = taints.of(node.test, function)
    inside = [one for part in node.body for one in (part, *_inside(part))]
    jumps = isinstance(node.body[-1], (ast.Return, ast.Raise))
    after = [one for one in function.own_nodes if getattr(one, "lineno", 0) > (node.end_lineno or 0)] if jumps else []
    other = [one for part in node.orelse for one in (part, *_inside(part))]
    arms = [_effects(part, function, taints.program) for part in (inside, other, after)]
    effects = {one for arm in arms for one in arm}
    if jumps and _returns_value(function) and function.owner is not None:
        effects.add(_RETURNS)
    if not effects or (taint is None and effects == {_RETURNS}):
        return
    kind = StatementKind.BRANCH
    score = (taint.weight if taint is not None else _PLAIN) + max(_fit(one, left=left) for one in effects)
    first = decision(function, node.test.lineno, kind, taint, score)
    yield first
    for one in inside:
        if _effects([one], function, taints.program) or (jumps and one is node.body[-1]):
            told = StatementKind.RETURNS if isinstance(one, ast.Return) else StatementKind.CALLS
            yield decision(function, getattr(one, "lineno", node.lineno), told, taint, score - 1)
    if taint is not None:
        yield from origin(first, taint, taints.program)


def _loop(
    node: ast.For | ast.AsyncFor, function: Function, taints: RankTaint, *, left: bool
) -> Iterator[DivergencePoint]:
    """Yields a loop that communicates once for each of what this rank has: a metric for each class of its batch."""
    inside = [one for part in node.body for one in (part, *_inside(part))]
    taint = taints.of_loop(node.iter, function)
    read = {one.id for one in ast.walk(node.iter) if isinstance(one, ast.Name)}
    given = read & set(function.parameters) - {"self", "cls"}  # a batch, say: each rank is handed one of its own
    if (taint is None and not given) or _COMMUNICATES not in _effects(inside, function, taints.program):
        return
    weight = taint.weight if taint is not None else _PLAIN
    score = weight + _fit(_COMMUNICATES, left=left)
    first = decision(function, node.iter.lineno, StatementKind.LOOP, taint, score)
    yield first
    for one in inside:
        if isinstance(one, ast.Call) and _effects([one], function, taints.program):
            yield decision(function, one.lineno, StatementKind.CALLS, taint, first.score - 1)
    if taint is not None:
        yield from origin(first, taint, taints.program)


def _flag(node: ast.Assign, function: Function, taints: RankTaint, *, left: bool) -> Iterator[DivergencePoint]:
    """Yields an attribute of the library's that is set to a value of this rank's own."""
    if isinstance(node.value, ast.Constant) or not _sets_flag(node, function):
        return
    taint = taints.of(node.value, function)
    weight = taint.weight if taint is not None else _PLAIN
    first = decision(function, node.lineno, StatementKind.BRANCH, taint, weight + _fit(_FLAG, left=left))
    yield first
    if taint is not None:
        yield from origin(first, taint, taints.program)


def _fit(effect: int, *, left: bool) -> int:
    """Returns the points of an effect: flags end loops, calls leave ranks in different places of one."""
    if effect == _RETURNS:
        return effect
    return effect + (_FITS if (effect == _FLAG) == left else _FITS_NOT)


def _effects(nodes: Iterable[ast.AST], function: Function, program: CallGraph) -> set[int]:
    """Returns what statements and expressions do that the library, or the group, takes notice of."""
    found = set()
    for node in nodes:
        if isinstance(node, ast.Assign) and _sets_flag(node, function):
            found.add(_FLAG)
        if isinstance(node, ast.Call) and _communicates(node, function, program):
            found.add(_COMMUNICATES)
    return found


def _sets_flag(node: ast.Assign, function: Function) -> bool:
    """Whether an attribute is set of what the library handed over, or of something that it made."""
    for target in node.targets:
        base = target.value if isinstance(target, ast.Attribute) else None
        if isinstance(base, ast.Name) and base.id in function.parameters and base.id not in ("self", "cls"):
            return True
        if isinstance(base, ast.Attribute) and base.attr in _LIBRARY_OBJECTS:
            return True
    return False


def _communicates(call: ast.Call, function: Function, program: CallGraph) -> bool:
    """Whether a call may be an operation of the group: of its own, or in a library."""
    if program.communicates(call, function):
        return True
    if program.targets(call, function) or not isinstance(call.func, ast.Attribute):
        return False
    name = call.func.attr
    if name in ("log", "log_dict"):
        return any(one.arg == "sync_dist" and not _is_false(one.value) for one in call.keywords)
    above = isinstance(call.func.value, ast.Call) and last_name(call.func.value.func) == "super"
    return bool(_COMMUNICATING.match(name)) or (above and name == function.name.rpartition(".")[2])


def _loader(call: ast.Call, function: Function, taints: RankTaint) -> Iterator[DivergencePoint]:
    """Yields a loader that has more batches on some ranks, and where that comes from."""
    values = [*call.args[:1], *(one.value for one in call.keywords if one.arg in _LENGTH_OF)]
    for value in values:
        taint = taints.of_loop(value, function)
        if taint is not None and not (taint.why in _ONLY_CONTENT and not taint.control):
            first = decision(function, call.lineno, StatementKind.LOOP, taint, taint.weight + _LOADER)
            yield first
            yield from (replace(one, score=first.score + 1) for one in origin(first, taint, taints.program))


def _inside(statement: ast.AST) -> Iterator[ast.AST]:
    """Yields what is in a statement, without functions inside."""
    for child in children(statement):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            yield child
            yield from _inside(child)


def _returns_value(function: Function) -> bool:
    return any(isinstance(node, ast.Return) and node.value is not None for node in function.nodes_of(ast.Return))


def _is_false(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and not value.value

"""An iterator over parameters is gone through a second time, when it is empty.

What it does: flags a name or attribute that holds `model.parameters()`, a `filter(...)` or a generator over parameters,
and that is used again behind what has gone through it: an optimizer, clip_grad_norm_, a loop, a sum; one that is made
before a loop and gone through in each of its rounds; and one that is given to a function which goes through its
parameter twice. To hand it to a function of the project that goes through it is a use like a loop.

Why it matters: an iterator gives its items once. Clipping over an empty one clips nothing and says that the norm is 0;
a second optimizer raises that it got no parameters; an average over it never moves.

Bad:

    params = filter(lambda p: p.requires_grad, model.parameters())
    optimizer = torch.optim.AdamW(params)
    ...
    torch.nn.utils.clip_grad_norm_(params, 1.0)

Good:

    params = [p for p in model.parameters() if p.requires_grad]

What it cannot see: iterators in lists and dicts.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.object_kinds import given
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.module_classes import own_attribute

CODE = "A322"
NAME = "parameters-used-up"
SEVERITY = Severity.ERROR
RUN_CLASS = "gradients-lost"
WORDS = ("parameters", "named_parameters", "params", "weights")
CHECKLIST = "parameters that are used twice are in a list"
_LAZY = frozenset(["filter", "map", "itertools.chain", "itertools.chain.from_iterable"])
_COLLECTS = frozenset(["list", "tuple", "sum", "sorted", "max", "min", "any", "all", "set", "dict"])
_PAIRS = frozenset(["zip", "enumerate", "reversed"])
_CLIPS = frozenset(["clip_grad_norm_", "clip_grad_value_", "clip_grad_norm", "clip_grads_with_norm_", "get_total_norm"])
_OPTIMIZER = re.compile(r"Adam|SGD|Lion|LAMB|Lamb|Adagrad|RMSprop|Adafactor|Adadelta|Muon")
_PARAMETERS = re.compile(r"parameters\(|\.grad\b")
_USED = "goes through it"
_LOOPS = (ast.For, ast.While, ast.AsyncFor)
_DEPTH = 3  # functions that hand an iterator on to the next one


@dataclass(frozen=True, slots=True, eq=False)
class _Use:
    """One place at which an iterator is gone through; `kind` is what does it."""

    node: ast.AST
    function: Function
    kind: str


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the uses of an iterator that has nothing more to give."""
    if "torch" not in file.words or file.is_test:
        return
    for function in project.functions_in(file):
        for name, values in function.assigned.items():
            if len(values) == 1 and name not in function.parameters and _is_iterator(values[0], function, project):
                yield from _in_order(file, name, values[0], list(_uses(name, function, project)))
        yield from _given(file, function, project)
    for kind in (one for one in file.all_statements if isinstance(one, ast.ClassDef)):
        yield from _of_object(file, kind, project)


def _given(file: ProjectFile, function: Function, project: Project) -> Iterator[Violation]:
    """Yields the second uses of a parameter for which a caller gives an iterator, and of which no list is made."""
    for name in function.parameters[function.implied :]:
        uses = list(_uses(name, function, project))
        if len(uses) < 2 or not all(_is_item(one, name) for one in function.assigned.get(name, ())):
            continue
        for value, where in project.arguments(name, function):
            if not project.file_with(where).is_test and _is_iterator(value, where, project):
                yield from _used_twice(file, name, value, uses, project.file_with(where))
                break


def _used_twice(
    file: ProjectFile, name: str, value: ast.expr, uses: list[_Use], where: ProjectFile
) -> Iterator[Violation]:
    """Yields the first use of a parameter that leaves nothing for a later one: a list has to be made before it."""
    for at, later in enumerate(uses):
        first = next((each for each in uses[:at] if _comes_to(each, later, file)), None)
        if first is not None:
            yield violation(
                file,
                first.node,
                f"{name} is an iterator and is used up here: {_nothing_done(later)} behind it, and nothing says so",
                f"{name} = list({name}) at the top of the function",
                steps=(
                    step(where, value, "an iterator, which gives its items once"),
                    step(file, later.node, "goes through it again, when it is empty"),
                ),
                confidence=Confidence.LIKELY,
            )
            return


def _is_item(value: ast.expr, name: str) -> bool:
    """Whether a value is a list of one parameter: `parameters = [parameters]`, for a tensor that stands alone."""
    return isinstance(value, (ast.List, ast.Tuple)) and len(value.elts) == 1 and _is(value.elts[0], name)


def _is_iterator(value: ast.expr, function: Function, project: Project) -> bool:
    """Whether a value is surely an iterator over parameters."""
    found = origins(value, function, project)
    return bool(found) and all(_is_lazy(one, where, project) for one, where in found)


def _is_lazy(value: ast.expr, function: Function, project: Project) -> bool:
    if isinstance(value, ast.GeneratorExp):
        return _PARAMETERS.search(ast.unparse(value)) is not None
    if not isinstance(value, ast.Call):
        return False
    targets = project.targets(value, function)
    if targets:
        return all(one.is_generator and _PARAMETERS.search(ast.unparse(one.syntax)) for one in targets)
    if isinstance(value.func, ast.Attribute) and value.func.attr in ("parameters", "named_parameters"):
        return not _is_bucket(value.func.value, function)
    return project.name(value.func, function) in _LAZY and _PARAMETERS.search(ast.unparse(value)) is not None


def _is_bucket(value: ast.expr, function: Function) -> bool:
    """Whether a parameter is declared as DDP's bucket of gradients, whose parameters() are a list."""
    arguments = getattr(function.syntax, "args", None)
    declared = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs) if arguments is not None else ()
    return isinstance(value, ast.Name) and any(
        one.arg == value.id and one.annotation is not None and last_name(one.annotation) == "GradBucket"
        for one in declared
    )


def _uses(name: str, where: Function, project: Project, depth: int = _DEPTH) -> Iterator[_Use]:
    """Yields where a name, or `self.x`, is gone through, in the order of the lines."""
    found: list[_Use] = []
    for node in where.nodes_of((ast.Call, ast.For, ast.comprehension)):
        if isinstance(node, ast.Call):
            called = last_name(node.func)
            handed = [*node.args[:1], *(one.value for one in node.keywords if one.arg in ("params", "parameters"))]
            is_method = isinstance(node.func, ast.Attribute) and called in _COLLECTS
            kind = "clip" if called in _CLIPS else "optimizer" if _OPTIMIZER.search(called) else "collects"
            known = kind != "collects" or (called in _COLLECTS and not is_method)
            if _goes_on(name, node, where, project, depth):
                found.append(_Use(node, where, "clip" if kind == "clip" else "loop"))
            elif known and any(_is(one, name) for one in handed):
                found.append(_Use(node, where, kind))
        elif isinstance(node, (ast.For, ast.comprehension)):
            over = node.iter
            pairs = over.args if isinstance(over, ast.Call) and last_name(over.func) in _PAIRS else [over]
            if any(_is(one, name) for one in pairs):
                found.append(_Use(node if isinstance(node, ast.For) else over, where, "loop"))
    yield from sorted(found, key=lambda one: (getattr(one.node, "lineno", 0), getattr(one.node, "col_offset", 0)))


def _goes_on(name: str, call: ast.Call, where: Function, project: Project, depth: int) -> bool:
    """Whether a call hands an iterator to a function of the project that goes through it, whatever else is so."""
    if not depth or not any(_is(one, name) for one in (*call.args, *(each.value for each in call.keywords))):
        return False
    targets = project.targets(call, where)
    return bool(targets) and all(
        any(
            _is(value, name) and _uses_up(target, parameter, project, depth - 1)
            for parameter, value in given(call, target.parameters[target.implied :])
        )
        for target in targets
    )


def _uses_up(function: Function, name: str, project: Project, depth: int) -> bool:
    """Whether a function goes through a parameter wherever it ends: in no arm, and not through a new meaning of it."""
    if function.is_generator:
        return False
    file = project.file_with(function)
    renewed = [one for one in function.assigned.get(name, ()) if not _is_item(one, name)]
    return any(
        not _arms(one.node, file) and (not renewed or any(_holds(value, one.node) for value in renewed))
        for one in _uses(name, function, project, depth)
    )


def _is(value: ast.expr, name: str) -> bool:
    return (isinstance(value, ast.Name) and value.id == name) or (
        name.startswith("self.") and f"self.{own_attribute(value)}" == name
    )


def _in_order(file: ProjectFile, name: str, value: ast.expr, uses: list[_Use]) -> Iterator[Violation]:
    for at, one in enumerate(uses):
        first = next((each for each in uses[:at] if _comes_to(each, one, file)), None)
        if first is not None:
            yield _hit(file, name, value, one, first)
            return
        loop = _loop_around(one.node, file)
        if one.kind in ("clip", "loop") and loop is not None and not _holds(loop, value) and not _leaves(one, loop):
            yield _hit(file, name, value, one, None)
            return


def _comes_to(first: _Use, second: _Use, file: ProjectFile) -> bool:
    """Whether the second use comes after the first one wherever it is come to: not in another arm of a test."""
    return _arms(first.node, file) <= _arms(second.node, file)


def _arms(node: ast.AST, file: ProjectFile) -> set[tuple[int, str]]:
    found: set[tuple[int, str]] = set()
    inner, outer = node, file.parents.get(node)
    while outer is not None:
        for part in ("body", "orelse") if isinstance(outer, (ast.If, ast.IfExp)) else ("handlers",):
            held = getattr(outer, part, ())
            if inner is held or (isinstance(held, list) and any(one is inner for one in held)):
                found.add((id(outer), part))
        inner, outer = outer, file.parents.get(outer)
    return found


def _loop_around(node: ast.AST, file: ProjectFile) -> ast.AST | None:
    """Returns the outermost loop of a function around a node, other than itself."""
    found = None
    outer = file.parents.get(node)
    while outer is not None and not isinstance(
        outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
    ):
        if isinstance(outer, _LOOPS) and not (isinstance(outer, ast.For) and _holds(outer.iter, node)):
            found = outer
        outer = file.parents.get(outer)
    return found


def _leaves(use: _Use, loop: ast.AST) -> bool:
    """Whether a loop may end in its first round: what is gone through once there is gone through once."""
    return any(isinstance(one, (ast.Break, ast.Return)) for one in ast.walk(loop))


def _holds(node: ast.AST, inner: ast.AST) -> bool:
    return any(one is inner for one in ast.walk(node))


def _of_object(file: ProjectFile, kind: ast.ClassDef, project: Project) -> Iterator[Violation]:
    """Yields the uses of an iterator that an object keeps: `self.params`, set once."""
    functions = [one for one in project.functions_in(file) if project.class_of(one) is kind]
    kept: dict[str, list[tuple[ast.expr, Function]]] = {}
    for function in functions:
        for node in function.nodes_of(ast.Assign):
            for target in node.targets if isinstance(node, ast.Assign) else ():
                if attribute := own_attribute(target):
                    kept.setdefault(attribute, []).append((node.value, function))  # type: ignore[attr-defined]
    for attribute, values in kept.items():
        value, made_in = values[0]
        if len(values) > 1 or not made_in.name.endswith("__init__") or not _is_iterator(value, made_in, project):
            continue
        name = f"self.{attribute}"
        first = next(_uses(name, made_in, project), None)
        for function in (one for one in functions if one is not made_in):
            again = next(
                (one for one in _uses(name, function, project) if first is not None or one.kind == "clip"), None
            )
            if again is not None:
                yield _hit(file, name, value, again, first)
                break


def _nothing_done(use: _Use) -> str:
    told = {"clip": "no gradient is clipped", "optimizer": "it gets no parameters"}
    return told.get(use.kind, "nothing is gone through")


def _hit(file: ProjectFile, name: str, value: ast.expr, use: _Use, first: _Use | None) -> Violation:
    when = "is used up, and empty here" if first is not None else "is used up the first time, and empty from then on"
    steps = [step(file, value, "an iterator, which gives its items once")]
    if first is not None:
        steps.append(step(file, first.node, _USED))
    return violation(
        file,
        use.node,
        f"{name} {when}: {_nothing_done(use)}, and nothing says so",
        f"{name} = list(...)",
        steps=tuple(steps),
        confidence=Confidence.LIKELY,
    )

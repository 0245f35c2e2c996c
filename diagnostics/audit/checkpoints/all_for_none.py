"""A limit of -1, which is to keep all checkpoints, deletes all of them.

What it does: flags a function that deletes `checkpoints[: len(checkpoints) - keep]` where there are more than `keep`,
and whose `keep` has a negative default that nothing asks about.

Why it matters: any number of checkpoints is more than -1, and `len - (-1)` is one more than there are. With the
default, each call deletes every checkpoint there is, the one just written among them, and the training goes on.

Bad:

    if len(checkpoints) > keep:
        for one in checkpoints[: len(checkpoints) - keep]:
            shutil.rmtree(one)

Good:

    if keep >= 0 and len(checkpoints) > keep:

What it cannot see: defaults in files of a configuration.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_guards import conditions
from diagnostics.static.dataflow.value_origins import Origin, origins
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A414"
NAME = "all-for-none"
SEVERITY = Severity.ERROR
RUN_CLASS = "state-not-kept"
WORDS = ("rmtree", "remove", "unlink")
CHECKLIST = "a limit of checkpoints that stands for all is asked about"
_DELETES = frozenset(["rmtree", "remove", "unlink", "rmdir", "removedirs"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the comparisons that -1 passes, too."""
    for function in () if file.is_test else project.functions_in(file):
        if not any(
            isinstance(one, ast.Call) and last_name(one.func) in _DELETES for one in function.nodes_of(ast.Call)
        ):
            continue
        for sliced in function.nodes_of(ast.Subscript):
            keep = _kept(sliced)
            if keep is None or _is_asked(keep, function):
                continue
            default = _negative(keep, function, project)
            if default is None:
                continue
            text = ast.unparse(keep)
            compared = next((one for one in function.nodes_of(ast.Compare) if _compares(one, text)), sliced)
            yield violation(
                file,
                compared,
                f"{text} is {ast.unparse(default[0])} where nobody gives it, and any number is more than that: all "
                "checkpoints are deleted, the newest among them",
                f"{text} >= 0 and ...",
                steps=(step(project.file_with(default[1]), default[0], "the default, which is to keep all"),),
                confidence=Confidence.LIKELY,
            )
            break


def _kept(node: ast.AST) -> ast.expr | None:
    """Returns n of `names[: len(names) - n]`."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Slice) or node.slice.lower is not None:
        return None
    upper = node.slice.upper
    if not isinstance(upper, ast.BinOp) or not isinstance(upper.op, ast.Sub):
        return None
    counts = isinstance(upper.left, ast.Call) and last_name(upper.left.func) == "len"
    return upper.right if counts and isinstance(upper.right, (ast.Name, ast.Attribute)) else None


def _compares(node: ast.AST, text: str) -> bool:
    return isinstance(node, ast.Compare) and any(ast.unparse(one) == text for one in (node.left, *node.comparators))


def _is_asked(keep: ast.expr, function: Function) -> bool:
    """Whether a function asks more about the limit than whether there are more than it."""
    text = ast.unparse(keep)
    for node in function.nodes_of((ast.Compare, ast.Call, ast.If, ast.BoolOp, ast.UnaryOp)):
        if isinstance(node, ast.Compare) and _compares(node, text):
            others = [one for one in (node.left, *node.comparators) if ast.unparse(one) != text]
            if not all(isinstance(one, ast.Call) and last_name(one.func) == "len" for one in others):
                return True
        elif isinstance(node, ast.Call) and any(ast.unparse(one) == text for one in node.args):
            return True  # max(keep, 0), or what asks about it
    return isinstance(keep, ast.Name) and keep.id in function.assigned


def _negative(keep: ast.expr, function: Function, project: Project) -> Origin | None:
    """Returns the negative default that a limit has where nothing on the way asks about it."""
    if isinstance(keep, ast.Name) and keep.id in function.parameters:
        own = _default_of(keep.id, function)
        if own is not None:
            return own, function
        for call, caller in project.callers(function)[:6]:
            for value, where in project.arguments(keep.id, function):
                if where is not caller or not any(one is value for one in ast.walk(call)):
                    continue
                text = ast.unparse(value)
                file = project.file_with(caller)
                if any(_mentions(one, text) for one in conditions(call, caller, file)):
                    continue
                found = _of_option(value, where, project)
                if found is not None:
                    return found
        return None
    asked = (
        one for call, caller in project.callers(function) for one in conditions(call, caller, project.file_with(caller))
    )
    return None if any(_mentions(one, last_name(keep)) for one in asked) else _of_option(keep, function, project)


def _mentions(test: ast.expr, text: str) -> bool:
    names = (one for one in ast.walk(test) if isinstance(one, (ast.Name, ast.Attribute)))
    return any(text in (ast.unparse(one), last_name(one)) for one in names)


def _default_of(name: str, function: Function) -> ast.expr | None:
    arguments = getattr(function.syntax, "args", None)
    if arguments is None:
        return None
    placed = [*arguments.posonlyargs, *arguments.args]
    pairs = [*zip(placed[len(placed) - len(arguments.defaults) :], arguments.defaults, strict=True),
             *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]  # fmt: skip
    return next((value for one, value in pairs if one.arg == name and value is not None and _is_negative(value)), None)


def _of_option(value: ast.expr, function: Function, project: Project) -> Origin | None:
    """Returns the negative default of the option or the field that a value is read from."""
    for one, where in origins(value, function, project):
        if _is_negative(one):
            return one, where
        if not isinstance(one, ast.Attribute):
            continue
        for call, asked in project.calls_by_name.get("add_argument", ()):
            names = [
                str(each.value).lstrip("-").replace("-", "_") for each in call.args if isinstance(each, ast.Constant)
            ]
            default = next((each.value for each in call.keywords if each.arg == "default"), None)
            if one.attr in names and default is not None and _is_negative(default):
                return default, asked
    if isinstance(value, ast.Attribute):
        for each in project.functions:
            for field in each.nodes_of(ast.AnnAssign):
                assert isinstance(field, ast.AnnAssign)  # noqa: S101 (asked for by kind)
                named = isinstance(field.target, ast.Name) and field.target.id == value.attr
                if named and field.value is not None and _is_negative(field.value):
                    return field.value, each
    return None


def _is_negative(value: ast.expr) -> bool:
    return isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub) and isinstance(value.operand, ast.Constant)

"""Classes or words are numbered in the order of a set: in each process another one has number 0.

What it does: flags `{name: i for i, name in enumerate(set(names))}`, and loops that number what a set of texts gives,
in a program of several ranks.

Why it matters: Python hashes texts with a seed of its own in each process. Class 0 is "cat" on one rank and "dog" on
the next; gradients of different tasks are averaged, and the loss stays high without any error. A checkpoint that is
read later fits no run.

Bad:

    ids = {name: number for number, name in enumerate(set(names))}

Good:

    ids = {name: number for number, name in enumerate(sorted(set(names)))}

What it cannot see: a set of numbers, whose order is the same everywhere; and numbers that rank 0 hands out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_guards import is_rank_guarded
from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.training_functions import INIT, WRAPPERS

CODE = "A166"
NAME = "numbers-by-set-order"
SEVERITY = Severity.ERROR
WORDS = ("enumerate",)
CHECKLIST = "classes and words have one number on all ranks"
_TEXTS = re.compile(
    r"name|label|class|tag|word|token|text|category|categories|genre|lang|speaker|stem|title|char|vocab", re.IGNORECASE
)
_NUMBERS = re.compile(r"\bint\(|idx|index|indices|\bids?\b|_ids?\b|rank|step|layer|\bdim", re.IGNORECASE)
_HANDED_OUT = frozenset(["broadcast_object_list", "PYTHONHASHSEED"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the numbers that follow from the order of a set."""
    closures = project.fact(ImportClosures)
    group = next(closures.calls(file.shown, INIT, *WRAPPERS), None)
    if file.is_test or group is None or closures.words(file.shown) & _HANDED_OUT:
        return
    for function in project.functions_in(file):
        for node, over in _numbered(function):
            found = _set(over, function, project)
            if found is None or is_rank_guarded(node, function, project):
                continue
            yield violation(
                file,
                node,
                f"{ast.unparse(found)[:50]} has another order in each process, and numbers follow from it: one rank's "
                "class 0 is another one than the next rank's",
                "sort it first: enumerate(sorted(set(...)))",
                steps=(step(project.file_with(group[1]), group[0], "the program runs on several ranks"),),
                confidence=Confidence.LIKELY,
            )


def _numbered(function: Function) -> Iterator[tuple[ast.AST, ast.expr]]:
    """Yields (where, over what) a mapping from items to their numbers is made."""
    for node in function.nodes_of((ast.DictComp, ast.For)):
        if isinstance(node, ast.DictComp) and len(node.generators) == 1:
            number, over = _counted(node.generators[0].target, node.generators[0].iter)
            if over is not None and number in (ast.unparse(node.value), ast.unparse(node.key)):
                yield node, over
        elif isinstance(node, ast.For):
            number, over = _counted(node.target, node.iter)
            stores = (one for one in node.body if isinstance(one, ast.Assign) and ast.unparse(one.value) == number)
            if over is not None and any(isinstance(one.targets[0], ast.Subscript) for one in stores):
                yield node, over


def _counted(target: ast.expr, over: ast.expr) -> tuple[str, ast.expr | None]:
    counts = isinstance(over, ast.Call) and last_name(over.func) == "enumerate" and over.args
    if not counts or not isinstance(target, ast.Tuple) or not isinstance(over, ast.Call):
        return "", None
    return ast.unparse(target.elts[0]), over.args[0]


def _set(value: ast.expr, function: Function, project: Project) -> ast.expr | None:
    """Returns the set of texts that is gone through, None where it is sorted, or may hold numbers."""
    found = origins(value, function, project)
    for one, where in found[:1] if len(found) == 1 else ():
        if isinstance(one, ast.Call) and last_name(one.func) in ("list", "tuple") and one.args:
            return _set(one.args[0], where, project)
        if isinstance(one, ast.SetComp) or (isinstance(one, ast.Call) and project.name(one.func, where) == "set"):
            return one if _TEXTS.search(ast.unparse(one)) and not _NUMBERS.search(ast.unparse(one)) else None
        if isinstance(one, ast.Set):
            texts = all(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in one.elts)
            return one if texts and len(one.elts) > 1 else None
    return None

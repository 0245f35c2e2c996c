"""Full names of parameters are looked up in a list of fragments, in which none of them stands.

What it does: flags `name in no_decay` and `name not in no_decay` for names out of `named_parameters()`, where the list
holds "bias" and the like and the function sorts parameters into groups for an optimizer.

Why it matters: a full name is "encoder.layer.0.output.dense.bias", which is no item of the list. The group that was to
stay without decay is empty, biases and norms are decayed with the rest, and no line says so.

Bad:

    [p for n, p in model.named_parameters() if n in no_decay]

Good:

    [p for n, p in model.named_parameters() if any(one in n for one in no_decay)]

What it cannot see: lists that a configuration gives. Names of a single layer's own parameters (`recurse=False`) are no
full names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A183"
NAME = "full-names-among-fragments"
SEVERITY = Severity.ERROR
RUN_CLASS = "wrong-loss"
WORDS = ("named_parameters",)
CHECKLIST = "groups of parameters are told apart by parts of their names"
_GROUPS = re.compile(r"weight_decay|['\"]params['\"]|['\"]lr['\"]")
_LAYERS = frozenset(["modules", "children", "named_modules", "named_children", "values", "items"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the look-ups that find nothing."""
    for function in () if file.is_test else project.functions_in(file):
        names = _full_names(function, project)
        if not names or not _GROUPS.search(ast.unparse(function.syntax)):
            continue
        for node in function.nodes_of(ast.Compare):
            if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], (ast.In, ast.NotIn)):
                continue
            if not isinstance(node.left, ast.Name) or node.left.id not in names:
                continue
            held = _fragments(node.comparators[0], function, project, file)
            if held is not None:
                source, fragment = held
                yield violation(
                    file,
                    node,
                    f"{node.left.id} is the full name of a parameter, as 'layer.0.{fragment.lstrip('.')}' is: it "
                    "equals no item of the list, and the group of those that do stays empty",
                    f"any(part in {node.left.id} for part in ...)",
                    steps=(step(file, source, f"the list of fragments, with '{fragment}' among them"),),
                    confidence=Confidence.LIKELY,
                )
                break


def _full_names(function: Function, project: Project) -> set[str]:
    """Returns the names that stand for full names of parameters of a whole model."""
    found: set[str] = set()
    looped = {one.id for node in function.nodes_of((ast.For, ast.comprehension))
              if isinstance(node.iter, ast.Call) and last_name(node.iter.func) in _LAYERS  # type: ignore[attr-defined]
              for one in ast.walk(node.target) if isinstance(one, ast.Name)}  # type: ignore[attr-defined]  # fmt: skip
    for node in function.nodes_of((ast.For, ast.comprehension)):
        over, target = node.iter, node.target  # type: ignore[attr-defined]
        first = target.elts[0] if isinstance(target, ast.Tuple) and len(target.elts) == 2 else None
        if not isinstance(first, ast.Name):
            continue
        made = [one for one, _ in origins(over, function, project)]
        if made and all(_names_all(one, looped) for one in made):
            found.add(first.id)
    return found


def _names_all(value: ast.expr, looped: set[str]) -> bool:
    while isinstance(value, ast.Call) and last_name(value.func) in ("list", "sorted", "tuple", "filter") and value.args:
        value = value.args[-1]
    if not isinstance(value, ast.Call) or last_name(value.func) != "named_parameters" or value.args or value.keywords:
        return False
    owner = value.func.value if isinstance(value.func, ast.Attribute) else None
    return owner is not None and not (isinstance(owner, ast.Name) and owner.id in looped)


def _fragments(value: ast.expr, function: Function, project: Project, file: ProjectFile) -> tuple[ast.expr, str] | None:
    """Returns the list of strings that a value is, and the one that is no full name."""
    if isinstance(value, ast.Name):  # `n in one for one in no_decay`
        for node in function.nodes_of((ast.comprehension, ast.For)):
            target = node.target  # type: ignore[attr-defined]
            if isinstance(target, ast.Name) and target.id == value.id:
                value = node.iter  # type: ignore[attr-defined]
                break
    for one, where in origins(value, function, project):
        if not isinstance(one, (ast.List, ast.Tuple, ast.Set)) or project.file_with(where) is not file:
            continue
        texts = [each.value for each in one.elts if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        part = next((each for each in texts if each == "bias" or each.startswith(".")), None)
        if part is not None and len(texts) == len(one.elts):
            return one, part
    return None

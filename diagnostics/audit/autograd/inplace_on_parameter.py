"""A parameter is changed in place while autograd records.

What it does: flags `+=`, `x[...] =`, `mul_()` and other changes in place of a parameter of a model (`self.weight`,
`p` of `for p in model.parameters()`) outside no_grad, `.data` and the set-up of the model.

Why it matters: a parameter is a leaf that requires a gradient; autograd refuses the change: "a leaf Variable that
requires grad is being used in an in-place operation". Where the class sets requires_grad=False today, it comes the day
somebody trains it.

Bad:

    for p in model.parameters():
        p.mul_(1 - decay)

Good:

    with torch.no_grad():
        for p in model.parameters():
            p.mul_(1 - decay)

What it cannot see: parameters behind other names, lists and functions, and callers outside of the project that
stand in no_grad: where no caller is known, the finding is only likely. What sets a model up (__init__, init_weights,
load_...) is left out: it fails there at once, or its caller stands in no_grad.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import ExplanationStep, Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.autograd.grad_mode import grad_enabled, is_set_up
from diagnostics.static.autograd.operator_tables import changed_in_place
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.module_classes import class_tree, own_attribute

CODE = "A301"
NAME = "inplace-on-parameter"
SEVERITY = Severity.ERROR
WORDS = ("Parameter", "parameters", "named_parameters")
_FIX = "put the change under torch.no_grad(): a gradient step, decay or reset is no part of the graph"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the changes in place of parameters that autograd would record."""
    for function in project.functions_in(file):
        if function.name == "<module>" or is_set_up(function):
            continue
        for node in function.own_nodes:
            target = changed_in_place(node)
            made = _parameter(target, function, file, project) if target is not None else None
            if made is not None and target is not None:
                yield from _judged(node, target, made, function, file, project)


def _judged(
    node: ast.AST, target: ast.expr, made: ExplanationStep, function: Function, file: ProjectFile, project: Project
) -> Iterator[Violation]:
    recorded = grad_enabled(node, function, file, project)
    if recorded is False or _is_optimizer(function, project) or _is_asked(node, target, file):
        return
    confidence = Confidence.LIKELY if recorded is None and made.text.startswith("a parameter of") else None
    method = function.name.rpartition(".")[2]
    if recorded is None and method != "forward":
        confidence = Confidence.LIKELY
    yield violation(
        file,
        node,
        f"{ast.unparse(target)} is a parameter and is changed in place while autograd records: torch raises 'a leaf "
        "Variable that requires grad is being used in an in-place operation'",
        _FIX,
        steps=(made, step(file, node, "changed in place, under no torch.no_grad()")),
        confidence=confidence or Confidence.CONFIRMED,
    )


def _parameter(value: ast.expr, function: Function, file: ProjectFile, project: Project) -> ExplanationStep | None:
    """Returns where an expression became a parameter that requires a gradient."""
    if isinstance(value, ast.Subscript):
        value = value.value
    own = own_attribute(value)
    tree = class_tree(project)
    known = tree.of_method(function) if own else None
    if known is not None and tree.is_module(known):
        made = tree.parts(known).parameters.get(own)
        if isinstance(made, ast.Call) and not any(one.arg == "requires_grad" for one in made.keywords):
            others = [one for method in walk(known.syntax) for one in _assigned(method, own) if one is not made]
            home = next((one for one in (known, *tree.bases(known)) if made in walk(one.syntax)), known)
            return step(home.file, made, f"self.{own} is made a parameter") if not others else None
        return None
    if isinstance(value, ast.Name):
        return _from_loop(value, function, file)
    return None


def _assigned(node: ast.AST, attribute: str) -> Iterator[ast.expr]:
    if isinstance(node, ast.Assign):
        yield from (node.value for one in node.targets if own_attribute(one) == attribute)
    elif isinstance(node, ast.AugAssign) and own_attribute(node.target) == attribute:
        return


def _from_loop(value: ast.Name, function: Function, file: ProjectFile) -> ExplanationStep | None:
    """`for p in model.parameters()`: the innermost loop around the use that binds the name."""
    outer = file.parents.get(value)
    while outer is not None and outer is not function.syntax:
        if isinstance(outer, ast.For):
            names = [one.id for one in walk(outer.target) if isinstance(one, ast.Name)]
            if value.id in names:
                source = outer.iter
                called = last_name(source) if isinstance(source, ast.Call) else ""
                plain = called == "parameters" and isinstance(outer.target, ast.Name)
                named = called == "named_parameters" and len(names) == 2 and names[1] == value.id
                rebound = bool(function.assigned.get(value.id))
                text = f"a parameter of {ast.unparse(source)}"
                return step(file, outer, text) if (plain or named) and not rebound else None
        outer = file.parents.get(outer)
    return None


def _is_optimizer(function: Function, project: Project) -> bool:
    """Whether it is the step of an optimizer: those run under no_grad or a decorator of their own."""
    kind = project.class_of(function)
    return kind is not None and any("Optim" in last_name(base) for base in kind.bases)


def _is_asked(node: ast.AST, target: ast.expr, file: ProjectFile) -> bool:
    """Whether a test around it asks for requires_grad or for grad mode: then the author knows."""
    outer = file.parents.get(node)
    while outer is not None and not isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)):
        if isinstance(outer, ast.If) and "grad" in ast.unparse(outer.test):
            return True
        outer = file.parents.get(outer)
    return False

"""find_unused_parameters=True for a model that uses all of its parameters.

What it does: flags DistributedDataParallel(..., find_unused_parameters=True) where the wrapped class and the classes it
is made of are the project's own, and every part with parameters is used in forward without a condition.

Why it matters: DDP then walks the whole graph after every forward to look for what is never there, and cannot begin to
reduce gradients where it would without: a few percent of each step. It also hides it when a part falls out of the
loss by mistake.

Bad:

    model = DDP(net, find_unused_parameters=True)

Good:

    model = DDP(net)

What it cannot see: outputs that are computed and then left out of the loss. Models with parts of libraries, with
frozen parts or with several outputs are left out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.model_wrappers import DDP, class_wrapped, wraps_in
from diagnostics.static.torch_code.submodules import has_parameters, is_plain_module, parts_of, reads_parts_unnamed

CODE = "A110"
NAME = "find-unused-parameters-needless"
SEVERITY = Severity.INFO
WORDS = ("find_unused_parameters",)
_MOST = 4


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the searches for unused parameters where all are used."""
    for wrap in wraps_in(file, project):
        kind = class_wrapped(wrap, project) if wrap.kind == DDP and wrap.has("find_unused_parameters") else None
        if kind is not None and _uses_all(kind, project, _MOST) and not _freezes(project):
            forward = project.method(kind, "forward")
            assert forward is not None  # noqa: S101 (a class without is not said to use all)
            yield violation(
                file,
                wrap.call,
                f"find_unused_parameters=True, but {kind.name} uses all of its parameters in every forward",
                "leave it out",
                steps=(step(project.file_with(forward), forward.syntax, "every part is used without a condition"),),
                confidence=Confidence.LIKELY,
            )


def _freezes(project: Project) -> bool:
    return any(one.words & {"requires_grad_", "requires_grad"} for one in project.python)


def _uses_all(kind: ast.ClassDef, project: Project, depth: int) -> bool:
    """Whether a class surely uses each of its parts in every forward."""
    forward, init = project.method(kind, "forward"), project.method(kind, "__init__")
    parts = list(parts_of(kind, project))
    if forward is None or init is None or not depth or not parts or reads_parts_unnamed(kind, project):
        return False
    if not is_plain_module(kind, project) or not _is_straight(forward) or _other_modules(init, kind, project):
        return False
    read = {
        one.attr
        for one in forward.nodes_of(ast.Attribute)
        if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name) and one.value.id == "self"
    }
    return all(part.name in read and _inside(part.value, part.function, project, depth - 1) for part in parts)


def _is_straight(forward: Function) -> bool:
    """Whether nothing in forward is conditional, and it gives one value back."""
    for one in forward.own_nodes:
        if isinstance(one, (ast.If, ast.IfExp, ast.Try, ast.While, ast.Break, ast.Continue, ast.With, ast.BoolOp)):
            return False
        if isinstance(one, ast.Return) and isinstance(one.value, (ast.Tuple, ast.Dict, ast.List)):
            return False
        if isinstance(one, ast.Call) and last_name(one.func) in ("detach", "no_grad"):
            return False
    return True


def _other_modules(init: Function, kind: ast.ClassDef, project: Project) -> bool:
    """Whether `__init__` makes anything else that may have parameters: in branches, by helpers, from libraries."""
    plain = {id(part.statement) for part in parts_of(kind, project)}
    for one in init.own_nodes:
        if isinstance(one, (ast.If, ast.For, ast.Try, ast.With)):
            return True
        if isinstance(one, ast.Call) and last_name(one.func) in ("add_module", "register_parameter", "setattr"):
            return True
        if isinstance(one, ast.Assign) and id(one) not in plain and isinstance(one.value, ast.Call):
            name = project.name(one.value.func, init)
            if not name.startswith("torch.nn.") and name not in ("int", "float", "len", "math.sqrt"):
                return True
    return False


def _inside(value: ast.expr, function: Function, project: Project, depth: int) -> bool:
    """Whether everything a part is made of uses all of its parameters."""
    for call in (one for one in walk(value) if isinstance(one, ast.Call)):
        name = project.name(call.func, function)
        inner = project.class_named(last_name(call.func), call.func, function.file)
        if inner is not None:
            if has_parameters(call, function, project) and not _uses_all(inner, project, depth):
                return False
        elif not name.startswith(("torch.nn.", "torch.zeros", "torch.ones", "torch.rand")) and name not in (
            "range",
            "len",
        ):
            return False
    return True

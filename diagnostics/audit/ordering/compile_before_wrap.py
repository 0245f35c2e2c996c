"""torch.compile before DistributedDataParallel.

What it does: flags a model that torch.compile is given before DistributedDataParallel wraps the same name in the same
function, also by a function that gives back what it is given, compiled.

Why it matters: compiled after wrapping, the graph is cut at DDP's buckets, so that gradients travel while backward
goes on. Compiled before, backward is one graph and all gradients travel at its end: right, but slower. The names in
the state_dict get a second prefix, too ("module._orig_mod.").

Bad:

    model = torch.compile(model)
    model = DDP(model)

Good:

    model = DDP(model)
    model = torch.compile(model)

What it cannot see: how much it costs; on one machine with fast links it may be nothing. Blocks compiled one by one, and
compiling before fully_shard, are common and fine.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.model_wrappers import DDP, WrapSite, wraps_in

CODE = "A104"
NAME = "compile-before-wrap"
SEVERITY = Severity.INFO
WORDS = ("compile",)


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the models that are compiled before they are wrapped."""
    for wrap in wraps_in(file, project):
        compiled = _compiled(wrap, project) if wrap.kind == DDP else None
        if compiled is not None:
            yield violation(
                file,
                compiled,
                f"{ast.unparse(wrap.model)} is compiled before DistributedDataParallel wraps it: "
                "its backward is one graph, and no gradient travels before its end",
                "wrap first, then compile the wrapped model",
                steps=(step(file, wrap.call, "wrapped here"),),
                confidence=Confidence.LIKELY,
            )


def _compiled(wrap: WrapSite, project: Project) -> ast.Call | None:
    if _is_compile(wrap.model, wrap.function, project):
        return wrap.model if isinstance(wrap.model, ast.Call) else None
    if not isinstance(wrap.model, (ast.Name, ast.Attribute)):
        return None
    model = ast.unparse(wrap.model)
    values = [
        (node.lineno, node.value)
        for node in wrap.function.nodes_of(ast.Assign)
        if isinstance(node, ast.Assign) and node.lineno < wrap.call.lineno
        and any(ast.unparse(one) == model for one in node.targets)
    ]  # fmt: skip
    last = max(values, key=lambda one: one[0], default=(0, wrap.model))[1]
    return last if isinstance(last, ast.Call) and _is_compile(last, wrap.function, project) else None


def _is_compile(value: ast.expr, function: Function, project: Project) -> bool:
    if project.called(value, function) == "torch.compile":
        return True
    targets = project.targets(value, function) if isinstance(value, ast.Call) else ()
    return len(targets) == 1 and _gives_back_compiled(targets[0], project)


def _gives_back_compiled(function: Function, project: Project) -> bool:
    """Whether a function returns its own argument after torch.compile."""
    returned = [
        one.value for one in function.nodes_of(ast.Return) if isinstance(one, ast.Return) and one.value is not None
    ]
    values = [
        value
        for one in returned
        for value in (function.assigned.get(one.id, [one]) if isinstance(one, ast.Name) else [one])
    ]
    return any(
        isinstance(one, ast.Call)
        and project.called(one, function) == "torch.compile"
        and isinstance(one.args[0] if one.args else None, ast.Name)
        and ast.unparse(one.args[0]) in function.parameters
        for one in values
    )

"""A training loop steps its optimizer and never clears the gradients.

What it does: flags loops that call backward and the step of one of torch's optimizers where nothing in the program
calls zero_grad or sets a gradient to None.

Why it matters: backward adds to the gradients that are there. Each step goes along the sum of all steps before it:
the loss falls at first and then swings or explodes, and nothing is raised.

Bad:

    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()

Good:

        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()

What it cannot see: optimizers of libraries that clear the gradients in their step, as DeepSpeed's engine does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.data_loaders import managed
from diagnostics.static.torch_code.training_loops import innermost_loop

CODE = "A309"
NAME = "zero-grad-missing"
SEVERITY = Severity.WARNING
WORDS = ("backward",)
CHECKLIST = "gradients are cleared before each backward"
_CLEARS = {"zero_grad", "zero_grads", "set_to_none", "zero_gradients", "clear_grad", "functional_call", "deepspeed",
           "apex", "autograd", "fused_backward", "register_post_accumulate_grad_hook"}  # fmt: skip


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the steps of optimizers whose gradients nobody clears."""
    words = project.fact(ImportClosures).words(file.shown)
    if words & _CLEARS or managed(file, project):
        return
    for function in project.functions_in(file):
        steps = [node for node in function.own_nodes if _is_step(node) and _is_torchs(node, function, project)]
        backward = next((node for node in function.own_nodes if _is_backward(node)), None)
        if len(steps) != 1 or _clears_by_hand(function):
            continue
        loop = _loop(steps[0], function, project)
        if backward is None:
            backward = _beside(function, file) if loop is not None else None
        if backward is None:
            continue
        if loop is not None:
            yield violation(
                file,
                steps[0],
                "the optimizer steps in a loop and nothing clears the gradients: each backward adds to those of all "
                "steps before",
                "optimizer.zero_grad() before the backward",
                steps=(step(file, backward, "adds to the gradients that are there"),),
                confidence=Confidence.LIKELY,
            )


def _is_step(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "step"


def _is_backward(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "backward"


def _is_torchs(call: ast.AST, function: Function, project: Project) -> bool:
    """Whether a step is that of an optimizer which torch makes, here or where the function is called from."""
    assert isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)  # noqa: S101, PT018 (asked before)
    return _is_optimizer(call.func.value, function, project)


def _is_optimizer(value: ast.expr, function: Function, project: Project, rounds: int = 3) -> bool:
    if rounds < 0:
        return False
    if isinstance(value, ast.Call):
        name = project.name(value.func, function)
        return name.startswith("torch.optim.") and "lr_scheduler" not in name
    if isinstance(value, ast.Attribute):
        values = project.attribute_values(value, function)
        return any(_is_optimizer(one, where, project, rounds - 1) for one, where in values)
    if not isinstance(value, ast.Name):
        return False
    made = function.assigned.get(value.id, ())
    if made:
        return any(_is_optimizer(one, function, project, rounds - 1) for one in made)
    if value.id in function.parameters:
        given = project.arguments(value.id, function)
        return any(_is_optimizer(one, caller, project, rounds - 1) for one, caller in given)
    return False


def _beside(function: Function, file: ProjectFile) -> ast.AST | None:
    """Returns the backward in another method of the same class."""
    if function.owner is None:
        return None
    inside = (node for node in walk(function.owner) if _is_backward(node))
    words = {node.attr for node in walk(function.owner) if isinstance(node, ast.Attribute)}
    return next(inside, None) if "grad" not in words and file.words.isdisjoint(_CLEARS) else None


def _clears_by_hand(function: Function) -> bool:
    """Whether a gradient is set to something: `p.grad = None`; or the model is made anew for each step."""
    return any(
        isinstance(node, ast.Attribute) and node.attr in ("grad", "grad_") and not isinstance(node.ctx, ast.Load)
        for node in function.nodes_of(ast.Attribute)
    )


def _loop(call: ast.AST, function: Function, project: Project) -> ast.AST | None:
    """Returns the loop in which a step is made, also in a function that calls this one; none that makes models anew."""
    file = project.file_with(function)
    around = innermost_loop(call, function, file)
    if around is not None:
        return None if _makes_models(around, call) else around
    for one, caller in project.callers(function)[:4]:
        found = innermost_loop(one, caller, project.file_with(caller))
        if found is not None:
            return None if _makes_models(found, one) else found
    return None


def _makes_models(loop: ast.AST, call: ast.AST) -> bool:
    """Whether a round of the loop makes an optimizer of its own: gradients begin anew."""
    return any(isinstance(node, ast.Call) and last_name(node.func) in _MAKES for node in ast.walk(loop))


_MAKES = {"Adam", "AdamW", "SGD", "RMSprop", "Adagrad", "LBFGS", "Muon", "make_optimizer", "build_optimizer"}

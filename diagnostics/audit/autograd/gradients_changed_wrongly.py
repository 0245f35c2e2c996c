"""Gradients or weights change under the hands of autograd or DDP.

What it does: flags `p.grad.detach_()` where the project wraps with gradient_as_bucket_view=True; and `optimizer.step()`
between the forward of a network and the backward that needs its weights: the order of GAN training.

Why it matters: gradients that are views of DDP's buckets cannot be detached in place ("Can't detach views in-place").
A step writes the weights in place; a loss computed from the old ones can no longer run backward: "one of the
variables needed for gradient computation has been modified by an inplace operation".

Bad:

    loss_g = -d(fake).mean()
    loss_d.backward()
    opt_d.step()
    loss_g.backward()

Good:

    loss_d.backward()
    opt_d.step()
    loss_g = -d(fake).mean()
    loss_g.backward()

What it cannot see: networks and optimizers whose way into the function is not written down, and orders that depend
on a branch.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.autograd.stale_backward import stale_backwards
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A308"
NAME = "gradients-changed-wrongly"
SEVERITY = Severity.ERROR
WORDS = ("backward", "detach_")
_DDP = "torch.nn.parallel.DistributedDataParallel"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields gradients that are detached in place and steps that come before a backward."""
    for function in project.functions_in(file):
        if "detach_" in file.words:
            yield from _detached(file, project, function)
        for stale in stale_backwards(function, file, project):
            yield violation(
                file,
                stale.step,
                f"{ast.unparse(stale.step)} changes the weights of {stale.network} in place, and "
                f"{ast.unparse(stale.backward)} still needs the old ones",
                f"compute {stale.loss} after the step, or run its backward before it",
                steps=(
                    step(file, stale.forward, f"{stale.loss} is computed with {stale.network}"),
                    step(file, stale.step, f"the weights of {stale.network} change"),
                    step(file, stale.backward, "backward needs them as they were"),
                ),
                confidence=Confidence.CONFIRMED if stale.certain else Confidence.LIKELY,
            )


def _detached(file: ProjectFile, project: Project, function: Function) -> Iterator[Violation]:
    for node in function.own_nodes:
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "detach_"):
            continue
        gradient = node.func.value
        if isinstance(gradient, ast.Attribute) and gradient.attr == "grad":
            wrapped = _wrapped(project)
            if wrapped is not None:
                call, where = wrapped
                yield violation(
                    file,
                    node,
                    f"{ast.unparse(node)} detaches in place a gradient that is a view of DDP's bucket: torch raises "
                    '"Can\'t detach views in-place"',
                    "use optimizer.zero_grad(set_to_none=True), or wrap without gradient_as_bucket_view=True",
                    steps=(
                        step(where, call, "gradients become views of the buckets"),
                        step(file, node, "one of them is detached in place"),
                    ),
                    confidence=Confidence.CONFIRMED if where is file else Confidence.LIKELY,
                )


def _wrapped(project: Project) -> tuple[ast.Call, ProjectFile] | None:
    """Returns the wrapping with gradient_as_bucket_view=True, where the project has no other wrapping."""
    calls = project.calls_by_canonical.get(_DDP, [])
    if not calls or not all(_says_view(call) for call, _ in calls):
        return None
    return calls[0][0], project.file_with(calls[0][1])


def _says_view(call: ast.Call) -> bool:
    return any(
        one.arg == "gradient_as_bucket_view" and isinstance(one.value, ast.Constant) and one.value.value is True
        for one in call.keywords
    )

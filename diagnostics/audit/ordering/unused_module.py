"""A part of a model under DDP that has parameters and takes no part in the loss.

What it does: finds the class that DistributedDataParallel wraps without find_unused_parameters and static_graph, and
flags parts made in `__init__` that nothing in the project reads, and branches of forward that use a part in some steps
only: by chance, by the step, or by the content of the batch.

Why it matters: DDP waits in every backward for the gradients of all parameters. One that gets none ends the job at the
second step with "Expected to have finished reduction in the prior iteration"; where the ranks differ in what they
skip, they hang instead.

Bad:

    self.head = nn.Linear(64, 10)
    self.aux_head = nn.Linear(64, 4)  # forward uses only self.head
    ...
    model = DDP(net)

Good:

    model = DDP(net, find_unused_parameters=True)  # or remove the part, or freeze it before wrapping

What it cannot see: parts used through getattr, hooks or a library's base class; such classes are left out. Parts whose
output is computed but never reaches the loss.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.project import Project, per_project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code import model_wrappers
from diagnostics.static.torch_code.conditional_submodules import changing_branches
from diagnostics.static.torch_code.model_wrappers import DDP, WrapSite, class_wrapped, wraps_in
from diagnostics.static.torch_code.submodules import (
    Submodule,
    classes_inside,
    is_named_elsewhere,
    is_plain_module,
    parts_of,
    reads_parts_unnamed,
)

CODE = "A112"
NAME = "unused-module"
SEVERITY = Severity.ERROR
_FIX = "remove it, use it in every step, freeze it before wrapping, or wrap with find_unused_parameters=True"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the parts of wrapped models that get no gradient in some steps."""
    yield from (one for one in _hits(project) if one.file is file)


@per_project
def _hits(project: Project) -> tuple[Violation, ...]:
    found: dict[tuple[str, int], Violation] = {}
    for file in project.python:
        for wrap in wraps_in(file, project) if file.words & set(model_wrappers.WORDS) else ():
            if wrap.kind == DDP and not (wrap.may_have("find_unused_parameters") or wrap.may_have("static_graph")):
                for one in _of_model(wrap, project):
                    found.setdefault((one.file.shown, one.line), one)
    return tuple(found.values())


def _of_model(wrap: WrapSite, project: Project) -> Iterator[Violation]:
    whole = class_wrapped(wrap, project)
    if whole is None:
        return
    wrapped = step(project.file_with(wrap.function), wrap.call, "wrapped here, without find_unused_parameters")
    for kind in {id(one): one for one in classes_inside(whole, project)}.values():
        if not is_plain_module(kind, project) or reads_parts_unnamed(kind, project):
            continue
        for part in (one for each in (kind, *project.bases(kind)) for one in parts_of(each, project)):
            if not is_named_elsewhere(part, project):
                title = (
                    f"self.{part.name} of {kind.name} has parameters and is never used: "
                    "DDP waits for their gradients and fails at the second step"
                )
                yield violation(
                    project.file_with(part.function),
                    part.statement,
                    title,
                    _FIX,
                    steps=(wrapped,),
                    confidence=Confidence.POSSIBLE if _freezes(wrap, part, project) else Confidence.CONFIRMED,
                )
        for one in changing_branches(kind, project):
            title = (
                f"{one.why} whether {kind.name}.forward uses self.{one.part.name}: "
                "in a step without it DDP waits for its gradients in vain"
            )
            steps = (step(project.file_with(one.part.function), one.part.statement, "made here"), wrapped)
            file = project.file_with(one.function)
            yield violation(file, one.branch, title, _FIX, steps=steps, confidence=Confidence.LIKELY)


def _freezes(wrap: WrapSite, part: Submodule, project: Project) -> bool:
    """Whether what is not used may have been frozen before wrapping."""
    files = (project.file_with(wrap.function), project.file_with(part.function))
    return any(one.words & {"requires_grad", "requires_grad_", "freeze"} for one in files)

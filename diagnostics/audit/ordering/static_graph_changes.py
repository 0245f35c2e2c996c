"""static_graph=True for a model whose graph is not the same in every step.

What it does: flags DistributedDataParallel(..., static_graph=True) where the wrapped class's forward uses a part in
some steps only, and where the wrapped model trains under no_sync() in what may be its first backward.

Why it matters: with static_graph DDP notes in the first backward which parameters take part, and in which order, and
never looks again. A part that joins later is not reduced, or ends the job; a first backward under no_sync() ends it
with "expect_autograd_hooks_ INTERNAL ASSERT FAILED".

Bad:

    model = DDP(net, static_graph=True)
    for micro in range(accumulate):
        with model.no_sync() if micro < accumulate - 1 else nullcontext():
            model(x).sum().backward()

Good:

    model = DDP(net)  # or, for parts that come and go: find_unused_parameters=True

What it cannot see: conditions that only change with the configuration are taken to be constant in a run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import ExplanationStep, Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.models.static_graphs import other_part_each_step
from diagnostics.static.executed.training import wraps
from diagnostics.static.execution.events import Execution
from diagnostics.static.execution.values import Const, Instance
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.conditional_submodules import ConditionalUse, changing_branches
from diagnostics.static.torch_code.gradient_accumulation import entered_by, unsynchronised_first_round
from diagnostics.static.torch_code.model_wrappers import DDP, WrapSite, bound_to, class_wrapped, wraps_in
from diagnostics.static.torch_code.submodules import classes_inside

CODE = "A109"
NAME = "static-graph-changes"
SEVERITY = Severity.ERROR
WORDS = ("static_graph",)


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the models said to be static that are not."""
    yield from also(_read(file, project), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    """Yields what options that are handed over as a dict, or a model made elsewhere, hide from reading."""
    for _, wrap, model in wraps(execution):
        said = wrap.keywords.get("static_graph")
        if not (isinstance(said, Const) and said.value is True) or not isinstance(model, Instance):
            continue
        kinds = {id(one): one for one in classes_inside(model.kind.kind, project)}.values()
        for one in [branch for kind in kinds for branch in changing_branches(kind, project)][:1]:
            # The option is handed over somewhere: the branch is what a reader has to see.
            asked = shown(wrap, project, "wrapped with static_graph=True here")
            yield _changes(project.file_with(one.function), one.branch, one, project, asked)
    for wrap, used, chosen in other_part_each_step(execution):
        yield violation(
            home(wrap, project),
            wrap.node,
            "static_graph=True, but each step says itself which part of the model it uses",
            "wrap with find_unused_parameters=True instead of static_graph=True, or use every part in every step",
            steps=(
                shown(chosen, project, "the step chooses"),
                shown(used, project, "one part of several is used here"),
            ),
            confidence=Confidence.LIKELY,
        )


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
    for wrap in wraps_in(file, project):
        if wrap.kind == DDP and wrap.has("static_graph"):
            yield from _changing(file, wrap, project)
            yield from _unsynchronised(file, wrap, project)


def _changing(file: ProjectFile, wrap: WrapSite, project: Project) -> Iterator[Violation]:
    whole = class_wrapped(wrap, project)
    kinds = {id(one): one for one in classes_inside(whole, project)}.values() if whole is not None else ()
    for one in [branch for kind in kinds for branch in changing_branches(kind, project)][:1]:
        yield _changes(file, wrap.call, one, project)


def _changes(
    file: ProjectFile, place: ast.AST, one: ConditionalUse, project: Project, *more: ExplanationStep
) -> Violation:
    return violation(
        file,
        place,
        f"static_graph=True, but {one.why} whether forward uses self.{one.part.name}",
        "wrap with find_unused_parameters=True instead of static_graph=True, or use the part in every step",
        steps=(
            step(project.file_with(one.function), one.branch, f"{one.why} here"),
            step(project.file_with(one.part.function), one.part.statement, "the part is made here"),
            *more,
        ),
        confidence=Confidence.LIKELY,
    )


def _unsynchronised(file: ProjectFile, wrap: WrapSite, project: Project) -> Iterator[Violation]:
    for name, function in _named(file, wrap, project):
        for node in function.own_nodes:
            if not isinstance(node, ast.With) or not _trains_without_sync(node, name, function):
                continue
            first = unsynchronised_first_round(node, function, file)
            if first is not False:
                yield violation(
                    file,
                    wrap.call,
                    f"static_graph=True, and {name}.no_sync() is entered at {file.place(node.lineno)}: "
                    "a first backward under no_sync() ends in an internal assert",
                    "leave static_graph out, or synchronise the first backward",
                    steps=(step(file, node, "the gradients of these micro-batches are not reduced"),),
                    confidence=Confidence.LIKELY if first else Confidence.POSSIBLE,
                )
                return


def _named(file: ProjectFile, wrap: WrapSite, project: Project) -> Iterator[tuple[str, Function]]:
    """Yields (name, function) for every function of a file in which the wrapped model may have a name."""
    names = {bound_to(wrap)}
    if isinstance(file.parents.get(wrap.call), ast.Return):
        for call, caller in project.callers(wrap.function):
            names |= {name for name, values in caller.assigned.items() if any(one is call for one in values)}
    yield from ((name, function) for name in sorted(names - {""}) for function in project.functions_in(file))


def _trains_without_sync(node: ast.With, name: str, function: Function) -> bool:
    entered = [one for item in node.items for one in walk(entered_by(item, function)) if isinstance(one, ast.Call)]
    leaves = any(isinstance(one.func, ast.Attribute) and ast.unparse(one.func) == f"{name}.no_sync" for one in entered)
    return leaves and any(isinstance(one, ast.Call) and last_name(one.func) == "backward" for one in walk(node))

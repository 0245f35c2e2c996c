"""A DataLoader is given a sampler and shuffle=True.

What it does: flags DataLoader(sampler=..., shuffle=True).

Why it matters: the two exclude each other: DataLoader raises ValueError as soon as the line is run. Where the sampler
is made for distributed runs only, the program works on one process and falls over on two.

Bad:

    DataLoader(dataset, sampler=DistributedSampler(dataset), shuffle=True)

Good:

    DataLoader(dataset, sampler=DistributedSampler(dataset, shuffle=True))

What it cannot see: values of sampler and shuffle that are handed over.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_guards import reaching_values
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.data_loaders import DataLoaderSite, loaders_in

CODE = "A155"
NAME = "sampler-with-shuffle"
SEVERITY = Severity.ERROR
WORDS = ("sampler",)
CHECKLIST = "no DataLoader has both a sampler and shuffle"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the loaders with both."""
    for loader in loaders_in(file, project):
        shuffle = loader.arguments.get("shuffle")
        if not (isinstance(shuffle, ast.Constant) and shuffle.value is True):
            continue
        for name in ("sampler", "batch_sampler"):
            value = loader.arguments.get(name)
            made = _made(value, loader.function, project) if value is not None else None
            if value is not None and made is not None:
                yield _hit(file, project, loader, f"{name}={ast.unparse(value)[:40]}", *made)


def _hit(
    file: ProjectFile,
    project: Project,
    loader: DataLoaderSite,
    given: str,
    made: ast.expr,
    where: Function,
    sure: Confidence,
) -> Violation:
    return violation(
        file,
        loader.call,
        f"DataLoader with {given} and shuffle=True raises ValueError",
        "leave shuffle out; DistributedSampler shuffles by default, and by shuffle=True of its own",
        steps=(
            step(project.file_with(where), made, "the sampler"),
            step(file, loader.call, "given together with shuffle=True"),
        ),
        confidence=sure,
    )


def _made(value: ast.expr, function: Function, project: Project) -> tuple[ast.expr, Function, Confidence] | None:
    """Returns where a sampler is made and how sure that is, None where none is seen."""
    if isinstance(value, ast.Call):
        return (value, function, Confidence.CONFIRMED) if _is_sampler(value, function, project) else None
    if isinstance(value, ast.IfExp):
        arms = (_made(one, function, project) for one in (value.body, value.orelse))
        found = next((one for one in arms if one is not None), None)
        return (*found[:2], Confidence.LIKELY) if found is not None else None
    if not isinstance(value, ast.Name) or value.id in function.parameters:
        return None
    values = [(one, where) for one, where in reaching_values(value, function, project) if one is not value]
    made = [_made(one, where, project) for one, where in values if not isinstance(one, ast.Name)]
    found = next((one for one in made if one is not None), None)
    if found is None or len(values) == 1:
        return found
    return (*found[:2], Confidence.LIKELY)


def _is_sampler(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether a call makes a sampler, by its name: a function may give None."""
    return last_name(call.func).endswith("Sampler") and not list(project.targets(call, function))[1:]

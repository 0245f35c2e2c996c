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

from diagnostics.analysis.audited_file import AuditedFile
from diagnostics.analysis.data_loaders import Loader, is_none, loaders_in
from diagnostics.analysis.project import Project
from diagnostics.analysis.rank_guards import values_of
from diagnostics.findings import Confidence, Severity
from diagnostics.hits import Hit, hit, step

CODE = "A155"
NAME = "sampler-with-shuffle"
SEVERITY = Severity.ERROR
WORDS = ("sampler",)
CHECKLIST = "no DataLoader has both a sampler and shuffle"


def check(file: AuditedFile, project: Project) -> Iterator[Hit]:
    """Yields the loaders with both."""
    for loader in loaders_in(file, project):
        shuffle = loader.arguments.get("shuffle")
        if not (isinstance(shuffle, ast.Constant) and shuffle.value is True):
            continue
        for name in ("sampler", "batch_sampler"):
            made = _made(loader, loader.arguments.get(name), project)
            if made is not None:
                yield _hit(file, loader, name, *made)


def _hit(file: AuditedFile, loader: Loader, name: str, made: ast.expr, confidence: Confidence) -> Hit:
    return hit(
        file,
        loader.call,
        f"DataLoader with {name}={ast.unparse(loader.arguments[name])[:40]} and shuffle=True raises ValueError",
        "leave shuffle out; DistributedSampler shuffles by default, and by shuffle=True of its own",
        steps=(step(file, made, f"the {name}"), step(file, loader.call, "given together with shuffle=True")),
        confidence=confidence,
    )


def _made(loader: Loader, value: ast.expr | None, project: Project) -> tuple[ast.expr, Confidence] | None:
    """Returns where a sampler is made, None where it may be none."""
    if value is None or is_none(value):
        return None
    if isinstance(value, ast.Call):
        return value, Confidence.CONFIRMED
    if not isinstance(value, ast.Name) or value.id in loader.function.parameters:
        return None
    values = [one for one, _ in values_of(value, loader.function, project)]
    calls = [one for one in values if isinstance(one, ast.Call)]
    if not calls:
        return None
    return calls[0], Confidence.CONFIRMED if len(calls) == len(values) else Confidence.LIKELY

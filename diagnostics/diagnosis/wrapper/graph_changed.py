"""The backward graph is not the one DDP planned for.

What it does: takes "Your training graph has changed in this iteration" (static_graph=True with a forward that branches)
and "Expected to mark a variable ready only once" (a parameter reached twice in one backward: reentrant checkpoints,
or a parameter used outside forward), and names the branch, the checkpoint or the use.

Why it matters: both are about the plan DDP made of the graph; torch itself offers _set_static_graph() for the second,
so that both are of this class. What is named is the line of backward().

Fix: checkpoint(..., use_reentrant=False); no static_graph=True where the forward changes from step to step.
"""

from __future__ import annotations

import ast
import re

from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.wording import distinct, sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.error_texts import TextMatch, match_text, merged_locations
from diagnostics.dynamic.job.evidence import names_of
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.model.model_classes import (
    SourceSite,
    called_name,
    class_of,
    entered_classes,
    method,
    source_files_of,
)
from diagnostics.dynamic.model.wrap_sites import static_wraps

CODE = "D604"
NAME = "graph-changed"
CLASS = "static-graph-violation"
EXAMINES = AppliesTo.FAILED

CHANGED = re.compile(
    r"(?P<graph>training graph has changed in this iteration)"
    r"|(?P<unfinished>Expected to have finished reduction in the prior iteration)"
    r"|(?P<twice>Expected to mark a variable ready only once|marked as ready twice)"
)
NAMED = re.compile(r"Parameter at index \d+ with name (?P<name>[\w.]+)")


def match(job: Job) -> Match | None:
    """Returns the line by which the graph differs from the plan."""
    tellers = match_text(job, CHANGED)
    # Without static_graph=True that one is about parameters that were never used.
    tellers = tuple(one for one in tellers if not one.found["unfinished"] or static_wraps(job, one.process))
    if not tellers:
        return None
    one, processes = tellers[0], [teller.process for teller in tellers]
    wraps = static_wraps(job, one.process)
    static = [place.location(job) for place in wraps]
    twice = bool(one.found["twice"])
    lines = _repeats(job, one.process) if twice else _branches(job, one.process)
    shown = [place.location(job) for place in lines]
    parameter = NAMED.search(f"{one.found.string}\n{one.process.stderr}")
    return blamed(
        job,
        processes,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of(processes))}: {_meaning(one, parameter, [*shown, *static])}",
        evidence=(
            *one.evidence(job),
            *(Evidence(source=place.location(job), observed=ast.unparse(place.node).splitlines()[0][:120])
              for place in (*lines[:3], *wraps[:1])),
        ),
        fix=_fix(twice),
        locations=distinct([*shown[:3], *static, *merged_locations(job, tellers)]),
        module=parameter["name"].rpartition(".")[0] if parameter else "",
        confidence=Confidence.CONFIRMED if len(shown) == 1 else Confidence.LIKELY,
    )  # fmt: skip


def _meaning(one: TextMatch, parameter: re.Match[str] | None, lines: list[str]) -> str:
    at = f" at {lines[0]}" if lines else ""
    if one.found["twice"]:
        what = f"parameter {parameter['name']}" if parameter else "a parameter"
        return f"{what} got its gradient twice in one backward{at}"
    return f"the forward took another way than in the first step{at}, under static_graph=True"


def _fix(twice: bool) -> Fix:
    if twice:
        return Fix(
            text="checkpoint(function, x, use_reentrant=False), no find_unused_parameters=True with it, and use "
            "parameters only inside the forward of the wrapped model"
        )
    return Fix(text="wrap with find_unused_parameters=True in place of static_graph=True, or let every step use "
        "the same "
               "modules")  # fmt: skip


def _branches(job: Job, process: JobProcess) -> list[SourceSite]:
    """Branches in the forwards that ran, around or before the use of a submodule; those on `is None` come last."""
    found: list[SourceSite] = []
    for file, function in _forwards(job, process):
        for node in ast.walk(function):
            inside = (*node.body, *node.orelse) if isinstance(node, ast.If) else ()
            if any(_calls_own(inner) or isinstance(inner, (ast.Return, ast.Continue, ast.Break))
                   for statement in inside for inner in ast.walk(statement)):  # fmt: skip
                found.append(SourceSite(file=file, node=node))
            if isinstance(node, ast.IfExp) and _calls_own(node):
                found.append(SourceSite(file=file, node=node))
    return sorted(found, key=lambda place: "is None" in ast.unparse(getattr(place.node, "test", place.node)))


def _calls_own(node: ast.AST) -> bool:
    return (isinstance(node, ast.Call) and ast.unparse(node.func).startswith("self.")) or any(
        isinstance(inner, ast.Call) and ast.unparse(inner.func).startswith("self.") for inner in ast.walk(node)
    )


def _repeats(job: Job, process: JobProcess) -> list[SourceSite]:
    """Reentrant checkpoints, else modules that one forward calls twice."""
    found: list[SourceSite] = []
    for file in source_files_of(job, process):
        tree = job.sources.file(file).tree
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.Call) and called_name(node) in ("checkpoint", "checkpoint_sequential"):
                words = {word.arg: word.value for word in node.keywords}
                value = words.get("use_reentrant")
                if value is None or not (isinstance(value, ast.Constant) and value.value is False):
                    found.append(SourceSite(file=file, node=node))
    if found:
        return found
    for file, function in _forwards(job, process):
        calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
        names = [ast.unparse(node.func) for node in calls]
        twice = [node for node in calls if ast.unparse(node.func).startswith("self.") and
                 names.count(ast.unparse(node.func)) > 1]  # fmt: skip
        found.extend(SourceSite(file=file, node=node) for node in twice[1:])
    return found


def _forwards(job: Job, process: JobProcess) -> list[tuple[str, ast.AST]]:
    files = source_files_of(job, process)
    kinds = [found for name in entered_classes(process) if (found := class_of(job, files, name)) is not None]
    return [(file, node) for file, kind in kinds if (node := method(kind, "forward")) is not None]

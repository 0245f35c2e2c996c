"""A metric that callbacks monitor is logged on one rank only, and the others do not find it.

What it does: flags Lightning's `self.log` of a metric under a test of the rank, or in a function with
`@rank_zero_only`, where ModelCheckpoint, EarlyStopping or a scheduler monitors it and no other rank logs it.

Why it matters: the callbacks run on every rank. Those without the metric raise at the end of the first validation, or
keep no checkpoint and never stop, while rank 0 waits for them in the next collective.

Bad:

    if self.trainer.is_global_zero:
        self.log("score", total / count, rank_zero_only=True)

Good:

    self.log("score", total / count)  # total and count are those of all ranks

What it cannot see: metrics whose names are put together, and what is monitored out of sight.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_guards import conditions
from diagnostics.static.dataflow.rank_predicates import RankPredicates
from diagnostics.static.launch_files.yaml_nodes import documents, entries, line_of, mappings, scalar
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project, per_project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A358"
NAME = "monitored-on-one-rank"
SEVERITY = Severity.ERROR
WORDS = ("log", "log_dict")
SUBJECT = ("monitor",)
CHECKLIST = "every rank logs what callbacks monitor"
_CALLBACKS = frozenset(["ModelCheckpoint", "EarlyStopping"])
_ZERO = "rank_zero_only"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields what only some ranks log of what all monitor."""
    monitored = _monitored(project)
    if file.is_test or not monitored:
        return
    told: list[tuple[ast.AST, str, bool]] = []
    for function in project.functions_in(file):
        for call in function.nodes_of(ast.Call):
            for name in _logged(call) if isinstance(call, ast.Call) else ():
                if name in monitored:
                    told.append((call, name, _is_guarded(call, function, file, project)))
    for node, name, guarded in told:
        same = [each for _, other, each in told if other == name]
        if guarded and all(same) and len(same) == 1:  # two may be those of both arms
            where, line = monitored[name]
            yield violation(
                file,
                node,
                f"'{name}' is logged on some ranks only, and callbacks monitor it on all: the others do not find it, "
                "and raise or go another way",
                "log it on every rank: its value is the same on all once it is reduced or gathered",
                steps=(step(where, line, "monitored here"),) if isinstance(line, ast.AST) else (),
                confidence=Confidence.LIKELY,
            )


def _logged(call: ast.Call) -> Iterator[str]:
    """Yields the names that a call logs for callbacks."""
    if not isinstance(call.func, ast.Attribute) or ast.unparse(call.func.value) not in ("self", "pl_module", "module"):
        return
    first = call.args[0] if call.args else None
    if call.func.attr == "log" and isinstance(first, ast.Constant) and isinstance(first.value, str):
        yield first.value
    elif call.func.attr == "log_dict" and isinstance(first, ast.Dict):
        yield from (one.value for one in first.keys if isinstance(one, ast.Constant) and isinstance(one.value, str))


@per_project
def _monitored(project: Project) -> dict[str, tuple[ProjectFile, ast.AST | int]]:
    """Returns the metrics that callbacks and schedulers of Lightning monitor, and where that is said."""
    found: dict[str, tuple[ProjectFile, ast.AST | int]] = {}
    if not any("lightning" in one.words or "pytorch_lightning" in one.words for one in project.python):
        return found
    for function in project.functions:
        file = project.file_with(function)
        for node in function.nodes_of((ast.Call, ast.Dict)) if not file.is_test else ():
            if isinstance(node, ast.Call) and last_name(node.func) in _CALLBACKS:
                given = [one.value for one in node.keywords if one.arg == "monitor"]
                given += node.args[:1] if last_name(node.func) == "EarlyStopping" else []
            elif isinstance(node, ast.Dict):
                given = [value for key, value in zip(node.keys, node.values, strict=True)
                         if isinstance(key, ast.Constant) and key.value == "monitor"]  # fmt: skip
            else:
                continue
            for one in given:
                if isinstance(one, ast.Constant) and isinstance(one.value, str):
                    found.setdefault(one.value, (file, one))
    for file in project.audited:
        for document in documents(file) if file.kind is FileKind.YAML and "monitor" in file.text else ():
            for mapping, _, _ in mappings(document):
                if name := scalar(entries(mapping).get("monitor")):
                    found.setdefault(name, (file, line_of(mapping)))
    return found


def _is_guarded(node: ast.AST, function: Function, file: ProjectFile, project: Project, depth: int = 1) -> bool:
    """Whether only some ranks come to a line: by a test, a decorator, or since all who call its function are so."""
    tests = RankPredicates(project)
    if any(tests.asks(one, function) is not None for one in conditions(node, function, file)):
        return True
    if any(last_name(one) == _ZERO for one in getattr(function.syntax, "decorator_list", ())):
        return True
    callers = list(project.callers(function)) if depth else []
    return bool(callers) and all(
        _is_guarded(call, caller, project.file_with(caller), project, depth - 1) for call, caller in callers
    )

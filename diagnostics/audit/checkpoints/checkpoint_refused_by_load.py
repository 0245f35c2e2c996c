"""A checkpoint holds what torch.load refuses to read: its default is weights_only=True.

What it does: runs each script on values that are not known, and flags the torch.save of an argparse.Namespace, a Path,
an object of the project, a number of NumPy, a time or a whole module, where the same program reads it with torch.load
and says nothing of weights_only, or True.

Why it matters: since PyTorch 2.6 such a load reads tensors, numbers, texts and containers, and raises UnpicklingError
at the first other class. Nothing fails while the checkpoint is written: the job that is to go on from it dies.

Bad:

    torch.save({"model": model.state_dict(), "args": args}, path)
    state = torch.load(path)

Good:

    torch.save({"model": model.state_dict(), "args": vars(args)}, path)
    state = torch.load(path)

What it cannot see: what another program has written, and which PyTorch is installed where no requirement says it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.executed import also, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.checkpoints.refused import refused_loads
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.program.declared_versions import DeclaredVersions
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A416"
NAME = "checkpoint-refused-by-load"
SEVERITY = Severity.ERROR
WORDS = ("save", "load")
CHECKLIST = "checkpoints hold what torch.load reads by default"
_DEFAULT_SINCE = (2, 6)
_ALLOWS = frozenset(["add_safe_globals", "safe_globals", "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields what is saved and cannot be loaded."""
    yield from also((), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    found = list(refused_loads(execution))
    if not found or any(not _ALLOWS.isdisjoint(one.words) for one in project.audited):
        return
    if project.fact(DeclaredVersions).is_older("torch", _DEFAULT_SINCE, of=execution.script):
        return
    for load, save, key, told in found:
        under = f" under {key!r}" if key else ""
        where, entry = _entry(save, key)
        yield violation(
            project.file_with(where),
            entry,
            f"the checkpoint holds {told}{under}, and torch.load refuses it: since PyTorch 2.6 its default is "
            "weights_only=True, so that a run that goes on dies with UnpicklingError",
            "save plain values: vars(args), str(path), float(x), state_dict(); for files that are there already, and "
            "that you trust, weights_only=False",
            steps=(shown(load, project, "the load that refuses it"),),
            confidence=Confidence.LIKELY,
        )


def _entry(save: Event, key: str) -> tuple[Function, ast.AST]:
    """Returns where a key is written in the dict that is saved, here or by who calls; else the save itself."""
    calls = [(save.function, save.node), *((one.caller, one.call) for one in reversed(save.frames))]
    for function, call in calls:
        for one in (each for each in ast.walk(call) if isinstance(each, (ast.Dict, ast.Name))):
            tables = function.assigned.get(one.id, []) if isinstance(one, ast.Name) else [one]
            for table in tables:
                for name, value in zip(table.keys, table.values, strict=True) if isinstance(table, ast.Dict) else ():
                    if isinstance(name, ast.Constant) and name.value == key:
                        return function, value
    return save.function, save.node

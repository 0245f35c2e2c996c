"""The history of a training is written anew by the run that goes on.

What it does: flags a class that keeps what is logged in a list of its own and writes its file from that list each time,
without reading what the file holds, in a program that restores its optimizer and the number of its epoch.

Why it matters: a resumed run begins with an empty list. Its first row overwrites the file, and the rows of all epochs
before it are gone: curves begin in the middle, and the best epoch of a report may be another one.

Bad:

    with open(self.path, "w") as out:
        csv.DictWriter(out, fields).writerows(self.rows)

Good:

    if self.path.exists():
        self.rows = list(csv.DictReader(self.path.open()))

What it cannot see: files whose folder is another one in each run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.checkpoints.resumed_programs import goes_on
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A428"
NAME = "history-written-anew"
SEVERITY = Severity.WARNING
RUN_CLASS, RUN_WHEN = "state-not-kept", "resumed"
WORDS = ("open",)
CHECKLIST = "a run that goes on keeps the history of the one before it"
_LOGS = re.compile(r"log|stat|histor|metric|curve|csv|record", re.IGNORECASE)
_OWN_FOLDER = frozenset(["strftime", "uuid4", "now", "time_ns", "mkdtemp", "isoformat"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the files that lose their rows."""
    if file.is_test:
        return
    around = project.fact(ImportClosures).around(file.shown)
    functions = [one for one in project.functions if one.file in around]
    words = project.fact(ImportClosures).words(file.shown)
    if words & _OWN_FOLDER or not goes_on(functions):
        return
    for function in project.functions_in(file):
        kind = project.class_of(function)
        opened = _opened(function) if kind is not None else None
        if opened is None or kind is None or function.name.rpartition(".")[2] == "__init__":
            continue
        call, path = opened
        methods = [one for one in functions if project.class_of(one) is kind]
        lists = [name for name in _written(function) if _is_own_list(name, kind, methods, functions, project)]
        if lists and not any(_reads(path, one) for one in methods) and _LOGS.search(f"{kind.name} {path}"):
            yield violation(
                file,
                call,
                f"the file is written anew from '{lists[0]}', which holds what this process has logged: a run that "
                "goes on wipes the rows of the epochs before it",
                "read the rows that are there when the run goes on, or append",
                steps=(step(file, function.syntax, f"{function.name} writes all of '{lists[0]}' each time"),),
                confidence=Confidence.LIKELY,
            )


def _opened(function: Function) -> tuple[ast.Call, str] | None:
    """Returns the call that opens a file of the object for writing, and the file's name."""
    for call in function.nodes_of(ast.Call):
        if not isinstance(call, ast.Call) or last_name(call.func) != "open":
            continue
        on_path = isinstance(call.func, ast.Attribute)
        path = call.func.value if isinstance(call.func, ast.Attribute) else call.args[0] if call.args else None
        modes = [*call.args[0 if on_path else 1 :][:1], *(one.value for one in call.keywords if one.arg == "mode")]
        writes = any(isinstance(one, ast.Constant) and str(one.value).startswith("w") for one in modes)
        if writes and isinstance(path, ast.Attribute) and ast.unparse(path.value) == "self":
            return call, path.attr
    return None


def _written(function: Function) -> list[str]:
    """Returns the attributes that are gone through, or handed to a writer, whole."""
    found = []
    for node in function.nodes_of((ast.For, ast.Call)):
        parts = [node.iter] if isinstance(node, ast.For) else [
            one for one in getattr(node, "args", ()) if last_name(node.func) in ("writerows", "dump", "DataFrame")]  # type: ignore  # fmt: skip
        for one in (each for part in parts for each in walk(part)):
            if isinstance(one, ast.Attribute) and ast.unparse(one.value) == "self" and one.attr not in found:
                found.append(one.attr)
    return found


def _is_own_list(
    name: str, kind: ast.ClassDef, methods: list[Function], functions: list[Function], project: Project
) -> bool:
    """Whether an attribute begins as an empty list, is appended to, and nothing fills it from outside."""
    values = [one for one, _ in project.class_attributes(kind, name)]
    if len(values) != 1 or not (isinstance(values[0], ast.List) and not values[0].elts):
        return False
    grows = any(isinstance(call, ast.Call) and ast.unparse(call.func) == f"self.{name}.append"
                for one in methods for call in one.nodes_of(ast.Call))  # fmt: skip
    outside = any(isinstance(node, ast.Attribute) and node.attr == name and ast.unparse(node.value) != "self"
                  for one in functions for node in one.nodes_of(ast.Attribute))  # fmt: skip
    return grows and not outside


def _reads(path: str, function: Function) -> bool:
    """Whether a method looks for the file, reads it or restores a state."""
    if function.name.rpartition(".")[2] in ("load_state_dict", "state_dict", "__setstate__"):
        return True
    for call in function.nodes_of(ast.Call):
        if not isinstance(call, ast.Call):
            continue
        if f"self.{path}" not in ast.unparse(call):
            continue
        if last_name(call.func) in ("exists", "is_file", "isfile", "read_csv", "read_text", "load"):
            return True
        if last_name(call.func) == "open":
            modes = [one.value for one in (*call.args, *(each.value for each in call.keywords))
                     if isinstance(one, ast.Constant) and isinstance(one.value, str)]  # fmt: skip
            if not any(one.startswith("w") for one in modes):
                return True
    return False

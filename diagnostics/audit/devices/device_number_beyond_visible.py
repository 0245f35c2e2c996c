"""A process that sees one GPU asks for it by the number among all.

What it does: flags a program that sets CUDA_VISIBLE_DEVICES to the local rank, and then takes the local rank for the
device's number as well.

Why it matters: the one GPU that is left is number 0. Rank 0 works; every other rank asks for device 1, 2, ...: "invalid
device ordinal", while rank 0 waits for them in the rendezvous.

Bad:

    os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["LOCAL_RANK"]
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))

Good:

    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))

What it cannot see: whether CUDA was opened before, which makes the variable come too late and do nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.local_ranks import local_rank_origin
from diagnostics.static.dataflow.rank_guards import is_rank_dependent
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A411"
NAME = "device-number-beyond-visible"
SEVERITY = Severity.ERROR
WORDS = ("CUDA_VISIBLE_DEVICES",)
CHECKLIST = "a process hides the other GPUs or picks one by its number, not both"
_USES = ("torch.cuda.set_device", "torch.device", "torch.cuda.device")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the uses of the local rank as a number, where one GPU alone is visible."""
    for function in project.functions_in(file):
        for node in function.nodes_of(ast.Assign):
            if not isinstance(node, ast.Assign) or not _hides(node.targets[0]):
                continue
            if not _one_number(node.value, function, project):
                continue
            for call, where, number in _numbered(file, project):
                home = project.file_with(where)
                yield violation(
                    home,
                    call,
                    f"this process sees one GPU, number 0, and asks for number {ast.unparse(number)[:30]}: on every "
                    "rank but the first, 'invalid device ordinal'",
                    "leave CUDA_VISIBLE_DEVICES alone, or use device 0",
                    steps=(
                        step(file, node, "all GPUs but one are hidden from this process"),
                        step(home, call, "the rank is taken for the number of a GPU"),
                    ),
                    confidence=Confidence.LIKELY,
                )
                break


def _hides(target: ast.expr) -> bool:
    return (
        isinstance(target, ast.Subscript) and last_name(target.value) == "environ"
        and isinstance(target.slice, ast.Constant) and target.slice.value == "CUDA_VISIBLE_DEVICES"
    )  # fmt: skip


def _one_number(value: ast.expr, function: Function, project: Project) -> bool:
    inner = value.args[0] if isinstance(value, ast.Call) and last_name(value.func) == "str" and value.args else value
    if isinstance(inner, ast.JoinedStr) and len(inner.values) == 1 and isinstance(inner.values[0], ast.FormattedValue):
        inner = inner.values[0].value
    return local_rank_origin(inner, function, project) is not None


def _numbered(file: ProjectFile, project: Project) -> Iterator[tuple[ast.Call, Function, ast.expr]]:
    """Yields the calls of the program that number a GPU by the rank."""
    for call, function in project.fact(ImportClosures).calls(file.shown, *_USES):
        number = call.args[-1] if call.args else None
        if isinstance(number, ast.JoinedStr) and isinstance(number.values[-1], ast.FormattedValue):
            number = number.values[-1].value
        if number is not None and not isinstance(number, ast.Constant) and is_rank_dependent(number, function, project):
            yield call, function, number

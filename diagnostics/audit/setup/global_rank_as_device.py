"""The rank among all processes is taken for the number of a GPU.

What it does: flags torch.cuda.set_device, "cuda:N" and device_ids with dist.get_rank() or the variable RANK in them.

Why it matters: on one machine the two numbers are the same. On the second machine, rank 8 asks for GPU 8 of 8: invalid
device ordinal, on the day when the job is to be made bigger.

Bad:

    torch.cuda.set_device(dist.get_rank())

Good:

    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))

What it cannot see: whether the program is ever run on more than one machine. So it is never more than likely, and
programs that start their own ranks, or compare with device_count(), are only possible.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.global_ranks import global_rank_origin
from diagnostics.static.program.functions import Function
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A153"
NAME = "global-rank-as-device"
SEVERITY = Severity.WARNING
WORDS = ("cuda", "set_device", "device_ids", "device")
CHECKLIST = "devices are numbered by the local rank"
_SETTING = {"torch.cuda.set_device", "torch.cuda.device"}
_ONE_MACHINE = {"spawn", "device_count", "Process", "start_processes", "MultiProcessTestCase", "mpi4py", "nnodes"}


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the devices that are numbered by the rank among all processes."""
    seen: set[int] = set()
    for function in project.functions_in(file):
        for index in _indices_in(function, project):
            source = global_rank_origin(index, function, project)
            if source is None or index.lineno in seen:
                continue
            seen.add(index.lineno)
            yield violation(
                file,
                index,
                f"{ast.unparse(index)} is the rank among all processes, taken for a GPU's number: on a second machine "
                "there is no such GPU",
                'the rank on this machine: int(os.environ["LOCAL_RANK"]), or rank % torch.cuda.device_count()',
                steps=(
                    step(project.file_with(source[1]), source[0], "the rank among all processes"),
                    step(file, index, "used as the number of a GPU of this machine"),
                ),
                confidence=_confidence(file, project),
            )


def _indices_in(function: Function, project: Project) -> Iterator[ast.expr]:
    for node in function.nodes_of((ast.Call, ast.Return)):
        if isinstance(node, ast.Call):
            yield from _indices(node, function, project)
        elif isinstance(node, ast.Return) and node.value is not None:
            yield from _in_name(node.value)


def _in_name(value: ast.expr) -> Iterator[ast.expr]:
    """Yields the number in f"cuda:{rank}"."""
    if isinstance(value, ast.JoinedStr) and len(value.values) == 2:
        head, tail = value.values
        if isinstance(head, ast.Constant) and head.value == "cuda:" and isinstance(tail, ast.FormattedValue):
            yield tail.value


def _indices(call: ast.Call, function: Function, project: Project) -> Iterator[ast.expr]:
    """Yields the expressions that number a GPU in a call."""
    if project.name(call.func, function) in _SETTING:
        yield from call.args[:1]
    if project.name(call.func, function) == "torch.device" and len(call.args) == 2:
        kind = call.args[0]
        yield from call.args[1:] if isinstance(kind, ast.Constant) and kind.value == "cuda" else ()
    for value in (*call.args, *(one.value for one in call.keywords)):
        yield from _in_name(value)
    for one in call.keywords:
        if one.arg == "device_ids" and isinstance(one.value, ast.List) and len(one.value.elts) == 1:
            yield one.value.elts[0]


def _confidence(file: ProjectFile, project: Project) -> Confidence:
    words = project.fact(ImportClosures).words(file.shown) if len(project.python) > 1 else file.words
    # A test runs on one machine, and so does what counts the GPUs or starts the ranks itself.
    return Confidence.POSSIBLE if words & _ONE_MACHINE or file.is_test else Confidence.LIKELY

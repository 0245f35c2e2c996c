"""The accumulation divides a batch by the ranks of one machine, in a job of several machines.

What it does: flags a number of micro batches for each step that follows from a division by LOCAL_WORLD_SIZE or
`torch.cuda.device_count()`, where a launch file asks for several machines.

Why it matters: the ranks of the other machines add their micro batches to the same step. A step takes N times the
samples that were meant on N machines, and N times the time; the learning rate belongs to another batch.

Bad:

    accumulation = global_batch // (micro_batch * int(os.environ["LOCAL_WORLD_SIZE"]))

Good:

    accumulation = global_batch // (micro_batch * int(os.environ["WORLD_SIZE"]))

What it cannot see: batch sizes that are meant for each machine, which a DataLoader is given: nothing is said of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import ExplanationStep, Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.value_origins import Origin, origins
from diagnostics.static.launch_files.node_counts import NodeCounts
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project, per_project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A124"
NAME = "global-batch-by-local-ranks"
SEVERITY = Severity.ERROR
CHECKLIST = "the accumulation is worked out for all ranks"
_DEPTH = 4
_COUNTS = ("torch.cuda.device_count", "torch.accelerator.device_count")
_VARIABLES = frozenset(
    ["LOCAL_WORLD_SIZE", "SLURM_NTASKS_PER_NODE", "SLURM_GPUS_ON_NODE", "OMPI_COMM_WORLD_LOCAL_SIZE"]
)
_ROUNDS = frozenset(["int", "max", "min", "round", "ceil", "floor", "abs"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the counts of micro batches that know one machine only."""
    if file.is_test or "torch" not in file.words:
        return
    several = _several(project)
    if several is None:
        return
    told: set[int] = set()
    for function in project.functions_in(file):
        for value in _accumulations(function):
            for divisor, where, quotient in _divisors(value, function, project, _DEPTH):
                local = _local(divisor, where, project)
                if local is None or id(local[0]) in told or _knows_machines(quotient, where, project):
                    continue
                told.add(id(local[0]))
                yield violation(
                    project.file_with(local[1]),
                    local[0],
                    "the micro batches of a step follow from the ranks of one machine, and the job has several: a step "
                    "takes as many times the samples as there are machines",
                    'dist.get_world_size(), or int(os.environ["WORLD_SIZE"])',
                    steps=(
                        ExplanationStep(place=several[0].place(several[1]), text="several machines are asked for"),
                        step(project.file_with(where), quotient, "the batch is divided by the ranks of one of them"),
                        step(file, value, "and this many micro batches make a step"),
                    ),
                    confidence=Confidence.LIKELY,
                )


@per_project
def _several(project: Project) -> tuple[ProjectFile, int] | None:
    """Returns where several machines are asked for."""
    return project.fact(NodeCounts).place()


def _accumulations(function: Function) -> Iterator[ast.expr]:
    """Yields what a function counts micro batches by, where it trains, and what it gives a library for that."""
    calls = [one for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call)]
    for call in calls:
        yield from (
            one.value for one in call.keywords if one.arg in ("gradient_accumulation_steps", "accumulate_grad_batches")
        )
    if any(last_name(one.func) == "backward" for one in calls):
        for node in function.nodes_of(ast.BinOp):
            assert isinstance(node, ast.BinOp)  # noqa: S101 (asked for by kind)
            shares = isinstance(node.op, ast.Div) and "loss" in ast.unparse(node.left)
            if shares or isinstance(node.op, ast.Mod):
                yield node.right


def _divisors(
    value: ast.expr, function: Function, project: Project, depth: int
) -> Iterator[tuple[ast.expr, Function, ast.BinOp]]:
    """Yields (divisor, where, quotient) of the divisions that a value follows from."""
    for one, where in origins(value, function, project) if depth else ():
        if isinstance(one, ast.Call) and last_name(one.func) in _ROUNDS:
            for each in one.args:
                yield from _divisors(each, where, project, depth - 1)
        elif isinstance(one, ast.BinOp) and isinstance(one.op, (ast.Div, ast.FloorDiv)):
            yield from ((each, where, one) for each in _factors(one.right))
            yield from _divisors(one.left, where, project, depth - 1)


def _factors(value: ast.expr) -> Iterator[ast.expr]:
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        yield from _factors(value.left)
        yield from _factors(value.right)
    else:
        yield value


def _local(value: ast.expr, function: Function, project: Project) -> Origin | None:
    """Returns what gives the number of ranks or devices of one machine, where a value can be nothing else."""
    made = origins(value, function, project)
    found = [(one, where) for one, where in made if _is_local(one, where, project)]
    return found[0] if found and len(found) == len(made) else None


def _is_local(value: ast.expr, function: Function, project: Project) -> bool:
    while isinstance(value, ast.Call) and last_name(value.func) in ("int", "max") and value.args:
        value = next((one for one in value.args if not isinstance(one, ast.Constant)), value.args[0])
        value = origins(value, function, project)[0][0] if isinstance(value, ast.Name) else value
    if isinstance(value, ast.Subscript):
        return isinstance(value.slice, ast.Constant) and value.slice.value in _VARIABLES
    if not isinstance(value, ast.Call):
        return False
    named = value.args[0].value if value.args and isinstance(value.args[0], ast.Constant) else None
    return project.name(value.func, function) in _COUNTS or (
        last_name(value.func) in ("get", "getenv") and named in _VARIABLES
    )


def _knows_machines(quotient: ast.BinOp, function: Function, project: Project) -> bool:
    """Whether the number of machines is a factor beside that of the devices."""
    for one in _factors(quotient.right):
        texts = " ".join(ast.unparse(each) for each, _ in origins(one, function, project)) + ast.unparse(one)
        if any(word in texts.lower() for word in ("node", "machine", "host")) and "per_node" not in texts.lower():
            return True
    return False

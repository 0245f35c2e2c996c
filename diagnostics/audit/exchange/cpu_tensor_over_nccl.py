"""A tensor on the CPU is handed to NCCL.

What it does: flags collectives over the whole world of tensors that are made on the CPU and moved nowhere, in programs
whose only process group is made with the backend nccl.

Why it matters: NCCL knows GPUs only. The call raises "No backend type associated with device type cpu", often at the
end of the first epoch, where the metrics are added up.

Bad:

    dist.init_process_group("nccl")
    total = torch.tensor([loss, count])
    dist.all_reduce(total)

Good:

    total = torch.tensor([loss, count], device="cuda")
    dist.all_reduce(total)

or init_process_group("cpu:gloo,cuda:nccl").

What it cannot see: default devices that are set elsewhere than in the program.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Severity
from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.program.functions import Function
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.collective_arguments import operation_calls
from diagnostics.static.spmd.cpu_tensors import is_on_cpu
from diagnostics.static.torch_code.training_functions import INIT

CODE = "A223"
NAME = "cpu-tensor-over-nccl"
SEVERITY = Severity.ERROR
WORDS = operations.COLLECTIVES
CHECKLIST = "what NCCL exchanges lies on a GPU"
_ELSEWHERE = frozenset(["set_default_device", "set_default_tensor_type", "gloo", "DeviceContext"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the operations of NCCL on tensors of the CPU."""
    closures = project.fact(ImportClosures)
    if _ELSEWHERE & closures.words(file.shown) or file.is_test:
        return
    if any(_is_entered(call, function, project) for call, function in closures.calls(file.shown, "torch.device")):
        return  # `with torch.device("cuda"):` makes tensors there
    groups = [_backend(call, function, project) for call, function in closures.calls(file.shown, INIT)]
    if not groups or not all(groups):
        return
    for one in operation_calls(file, project):
        name = operations.TENSOR.get(one.op, "")
        tensor = one.argument(name) if name else None
        if tensor is None or one.grouped:
            continue
        made = is_on_cpu(tensor, one.function, project)
        if made is None:
            continue
        home = next(where for value, where in origins(tensor, one.function, project) if value is made)
        call, function = next(closures.calls(file.shown, INIT))
        yield violation(
            file,
            one.call,
            f"{one.op}() is given a tensor on the CPU, and the group's backend is nccl, which knows GPUs only: it "
            "raises 'No backend type associated with device type cpu'",
            'device="cuda" where the tensor is made, or init_process_group("cpu:gloo,cuda:nccl")',
            steps=(
                step(project.file_with(function), call, "the one backend is nccl"),
                step(project.file_with(home), made, "made on the CPU, and moved nowhere"),
            ),
        )


def _is_entered(call: ast.Call, function: Function, project: Project) -> bool:
    return isinstance(project.file_with(function).parents.get(call), ast.withitem)


def _backend(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether a process group is made with nccl and nothing else."""
    given = next((one.value for one in call.keywords if one.arg == "backend"), call.args[0] if call.args else None)
    found = origins(given, function, project) if given is not None else ()
    return bool(found) and all(isinstance(one, ast.Constant) and one.value == "nccl" for one, _ in found)

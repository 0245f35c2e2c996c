"""NCCL ranks are never told which GPU is theirs.

What it does: flags init_process_group("nccl") in programs that use CUDA by its plain name and never choose a device.

Why it matters: without a choice "cuda" is GPU 0 for every rank of the machine: NCCL refuses two ranks on one GPU or
hangs, and GPU 0 runs out of memory while the others are idle.

Bad:

    dist.init_process_group("nccl")
    model.cuda()

Good:

    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    model.cuda()

What it cannot see: launchers that show each rank one GPU only, by CUDA_VISIBLE_DEVICES or the scheduler.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.functions import Function
from diagnostics.static.program.import_closure import ImportClosures, is_script
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.data_loaders import constant, managed
from diagnostics.static.torch_code.training_functions import INIT

CODE = "A154"
NAME = "set-device-missing"
SEVERITY = Severity.ERROR
WORDS = ("nccl",)
CHECKLIST = "each rank chooses its GPU before it uses one"
_CHOICES = {"set_device", "device_id", "CUDA_VISIBLE_DEVICES", "set_device_index", "device_ids", "local_rank",
            "LOCAL_RANK", "init_device_mesh", "set_default_device", "gpu_id", "device_mesh",
            "SLURM_LOCALID"}  # fmt: skip


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the process groups over NCCL whose ranks all use GPU 0."""
    for call, function in project.calls_in(file):
        if project.name(call.func, function) != INIT or _backend(call, function, project) != "nccl":
            continue
        if project.fact(ImportClosures).words(file.shown) & _CHOICES or managed(file, project):
            continue
        plain = _plain_use(file, project)
        if plain is None:
            continue
        yield violation(
            file,
            call,
            "no rank chooses its GPU: `cuda` means GPU 0 on each of them, and NCCL needs one for each rank",
            'torch.cuda.set_device(int(os.environ["LOCAL_RANK"])) before the first use of CUDA',
            steps=(
                step(file, call, "ranks that talk through NCCL"),
                step(project.file_with(plain[1]), plain[0], "CUDA without a number: GPU 0"),
            ),
            confidence=Confidence.LIKELY if is_script(file) else Confidence.POSSIBLE,
        )


def _backend(call: ast.Call, function: Function, project: Project) -> object:
    given = call.args[0] if call.args else next((one.value for one in call.keywords if one.arg == "backend"), None)
    return constant(given, function, project)


def _plain_use(file: ProjectFile, project: Project) -> tuple[ast.Call, Function] | None:
    """Returns a call that uses CUDA without a number, None where one gives a number."""
    found = None
    around = project.fact(ImportClosures).around(file.shown)
    for one in sorted(around):
        for call, function in project.calls_in(project.by_path[one]):
            if _numbered(call):
                return None
            if found is None and _is_plain(call, function, project):
                found = call, function
    return found


def _is_plain(call: ast.Call, function: Function, project: Project) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if name == "cuda":
        return not call.args and not call.keywords
    named = [*call.args[:1], *(one.value for one in call.keywords if one.arg == "device")]
    plain = any(isinstance(one, ast.Constant) and one.value == "cuda" for one in named)
    return plain and (name == "to" or project.name(call.func, function).startswith("torch."))


def _numbered(call: ast.Call) -> bool:
    """Whether a call gives a GPU by a number that is computed."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if (name == "cuda" and call.args) or (name == "device" and len(call.args) + len(call.keywords) > 1):
        return True
    values = [*call.args, *(one.value for one in call.keywords)]
    if name == "to" and any(
        isinstance(one, (ast.Name, ast.Attribute)) and "rank" in ast.unparse(one) for one in values
    ):
        return True
    return any(isinstance(one, ast.JoinedStr) and "cuda:" in ast.unparse(one) for one in values)

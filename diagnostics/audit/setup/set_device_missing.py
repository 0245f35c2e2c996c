"""NCCL ranks are never told which GPU is theirs.

What it does: flags init_process_group("nccl") in programs that use CUDA by its plain name and never choose a device;
and, where the rank's device is worked out and only handed to single tensors, the model that is put on plain "cuda".

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
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_guards import conditions
from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function
from diagnostics.static.program.import_closure import ImportClosures, is_script
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.data_loaders import constant, managed
from diagnostics.static.torch_code.module_classes import ModuleHierarchy
from diagnostics.static.torch_code.training_functions import INIT

CODE = "A154"
NAME = "set-device-missing"
SEVERITY = Severity.ERROR
WORDS = ("nccl",)
CHECKLIST = "each rank chooses its GPU before it uses one"
_CHOICES = {"set_device", "device_id", "CUDA_VISIBLE_DEVICES", "set_device_index", "device_ids", "local_rank",
            "LOCAL_RANK", "init_device_mesh", "set_default_device", "gpu_id", "device_mesh",
            "SLURM_LOCALID"}  # fmt: skip


# What makes a GPU the current one; that a rank knows its number does not.
_CURRENT = {"set_device", "device_id", "CUDA_VISIBLE_DEVICES", "set_device_index", "init_device_mesh", "device_mesh",
            "set_default_device", "gpus_per_task", "gpu_bind"}  # fmt: skip
_ONE_EACH = re.compile(r"CUDA_VISIBLE_DEVICES|--gpus-per-task|--gpu-bind|gpus_per_task")
_MODELS = ("torch.nn.", "torchvision.models.", "transformers.")
_DEPTH = 3


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the process groups over NCCL whose ranks all use GPU 0."""
    for call, function in project.calls_in(file):
        if project.name(call.func, function) != INIT or _backend(call, function, project) != "nccl":
            continue
        if managed(file, project):
            continue
        yield from _worked_out_in_vain(file, project)
        if project.fact(ImportClosures).words(file.shown) & _CHOICES:
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


def _worked_out_in_vain(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the device of a rank that never becomes the current one, where the model goes to the current one."""
    around = [project.by_path[one] for one in sorted(project.fact(ImportClosures).around(file.shown))]
    known = any(one.words & _CURRENT for one in around) or any(_ONE_EACH.search(one.text) for one in project.audited)
    if known or any(_is_context(call, function, project) for one in around for call, function in project.calls_in(one)):
        return
    numbered = [(call, one) for one in around for call, function in project.calls_in(one)
                if project.name(call.func, function) == "torch.device" and _numbered(call)
                and not all(isinstance(each, ast.Constant) for each in call.args)]  # fmt: skip
    if not numbered:
        return
    for one in around:
        for node, function in _models_on_plain(one, project):
            if _always(node, function, project):
                call, home = numbered[0]
                yield violation(
                    home,
                    call,
                    f"the rank's GPU is worked out and never made the current one: `{_first_line(node)}` "
                    f"({one.place(node.lineno)}) puts the model on GPU 0 on every rank of a machine",
                    "torch.cuda.set_device(device) before the first use of CUDA",
                    steps=(step(one, node, "CUDA without a number: the current GPU, which is GPU 0"),),
                    confidence=Confidence.LIKELY,
                )
                return


def _models_on_plain(file: ProjectFile, project: Project) -> Iterator[tuple[ast.Call | ast.With, Function]]:
    """Yields what puts a model on the current GPU: `.cuda()`, `.to("cuda")`, made under `with torch.device("cuda")`."""
    for call, function in project.calls_in(file):
        moves = isinstance(call.func, ast.Attribute) and call.func.attr in ("cuda", "to")
        if moves and _is_plain(call, function, project) and _is_model(call.func.value, function, project):  # type: ignore[attr-defined]
            yield call, function
    for function in project.functions_in(file):
        for node in function.nodes_of(ast.With):
            if isinstance(node, ast.With) and any(_is_plain_device(one, function, project) for one in node.items):
                made = (one for part in node.body for one in walk(part) if isinstance(one, ast.Call))
                if any(_is_model(one, function, project) for one in made):
                    yield node, function


def _is_plain_device(item: ast.withitem, function: Function, project: Project) -> bool:
    made = item.context_expr
    return (
        isinstance(made, ast.Call)
        and project.name(made.func, function) == "torch.device"
        and _is_plain(made, function, project)
    )


def _is_model(value: ast.expr, function: Function, project: Project) -> bool:
    hierarchy = project.fact(ModuleHierarchy)
    kinds = (hierarchy.by_syntax.get(id(one)) for one in project.kinds(value, function))
    if any(one is not None and hierarchy.is_module(one) for one in kinds):
        return True
    return any(
        isinstance(made, ast.Call) and project.name(made.func, where).startswith(_MODELS)
        for made, where in origins(value, function, project)
    )


def _always(node: ast.AST, function: Function, project: Project, depth: int = _DEPTH) -> bool:
    """Whether nothing decides if a node runs, in its function and in those that call it: both ways may be meant."""
    tests = conditions(node, function, project.file_with(function))
    if any("__name__" not in ast.unparse(one) for one in tests):
        return False
    callers = project.callers(function)[:_DEPTH] if depth and function.name != "<module>" else ()
    return all(_always(call, caller, project, depth - 1) for call, caller in callers)


def _is_context(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether it makes a GPU the current one for a block."""
    return project.name(call.func, function) == "torch.cuda.device"


def _first_line(node: ast.AST) -> str:
    return ast.unparse(node).partition("\n")[0].rstrip(":")


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

"""CUDA is used before a process is forked that uses it, too.

What it does: flags processes that are started by fork (multiprocessing.Process and Pool, where nothing chooses spawn,
and get_context("fork")) and whose target uses CUDA, after the module or the same function has used CUDA; and
notebook_launcher() of several processes in such a place: it forks them.

Why it matters: a forked child inherits a CUDA context that it cannot use: "Cannot re-initialize CUDA in forked
subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method".

Bad:

    device = torch.zeros(1).cuda().device     # at the top of the module
    Process(target=evaluate).start()          # evaluate() calls model.cuda()

Good:

    context = torch.multiprocessing.get_context("spawn")
    context.Process(target=evaluate).start()

What it cannot see: CUDA used by modules that are imported, and targets that reach CUDA through other functions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.functions import Function, is_generator, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.devices import denotes_gpu, gpu_of, moved_to
from diagnostics.static.torch_code.forked_processes import forks, reached_from, starts_own_process

CODE = "A407"
NAME = "cuda-before-fork"
SEVERITY = Severity.ERROR
WORDS = ("Process", "Pool", "notebook_launcher")
CHECKLIST = "processes that use CUDA are spawned, not forked"
_CALLERS, _DEPTH, _MOST = 3, 3, 4
_OPENS = frozenset(
    ["torch.cuda.current_device", "torch.cuda.get_device_properties", "torch.cuda.get_device_name",
     "torch.cuda.synchronize", "torch.cuda.mem_get_info", "torch.cuda.init", "torch.cuda.current_stream",
     "torch.cuda.get_device_capability"]
)  # fmt: skip


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the forks after CUDA was opened."""
    for call, function in project.calls_in(file):
        notebook = _is_notebook_launcher(call, function, project)
        subclass = starts_own_process(call, function, project)
        if not (notebook or subclass or forks(call, function, project)):
            continue
        before = _opened_before(call, function, project)
        if notebook and before is not None:
            yield _in_notebook(file, call, before[0])
            continue
        inside = _opened_by_target(call, function, project, subclass)
        if before is None or inside is None:
            continue
        used, where = inside
        direct = before[1].file == file.shown and where.file == file.shown
        yield violation(
            file,
            call,
            "this process is forked from one that has CUDA open, and uses CUDA: 'Cannot re-initialize CUDA in forked "
            "subprocess'",
            'torch.multiprocessing.get_context("spawn").Process(...)',
            steps=(
                step(project.file_with(before[1]), before[0], "CUDA is opened here"),
                step(file, call, "the process is forked"),
                step(project.file_with(where), used, "it uses CUDA"),
            ),
            confidence=Confidence.CONFIRMED if direct and subclass is None else Confidence.LIKELY,
        )


def _is_notebook_launcher(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether a call is accelerate's notebook_launcher() of several processes."""
    if last_name(call.func) != "notebook_launcher" or not project.name(call.func, function).startswith("accelerate"):
        return False
    given = {one.arg: one.value for one in call.keywords}
    count = given.get("num_processes", call.args[2] if len(call.args) > 2 else None)
    return isinstance(count, ast.Constant) and isinstance(count.value, int) and count.value > 1


def _in_notebook(file: ProjectFile, call: ast.Call, before: ast.AST) -> Violation:
    return violation(
        file,
        call,
        "notebook_launcher() forks from a notebook that has CUDA open: it refuses to start the ranks",
        "restart the kernel, and touch the GPU only inside of the function that is launched",
        steps=(step(file, before, "CUDA is opened here"), step(file, call, "the ranks are forked")),
        confidence=Confidence.CONFIRMED,
    )


def opens_cuda(node: ast.AST, function: Function, project: Project) -> bool:
    """Whether a call opens CUDA in this process."""
    if not isinstance(node, ast.Call):
        return False
    name, device = project.name(node.func, function), moved_to(node)
    if denotes_gpu(device) or name in _OPENS:
        return True
    moves = name.startswith("torch.") or (isinstance(node.func, ast.Attribute) and node.func.attr == "to")
    return device is not None and moves and gpu_of(device, function, project) == "always"


def _opened_before(
    call: ast.AST, function: Function, project: Project, depth: int = _CALLERS
) -> tuple[ast.AST, Function] | None:
    """Returns what opens CUDA before a call: in its function, at the top of the file, or where that is called."""
    file = project.file_with(function)
    for scope in {id(function): function, id(project.module_of(file)): project.module_of(file)}.values():
        for node in scope.own_nodes:
            early = scope is not function or getattr(node, "lineno", 0) < getattr(call, "lineno", 0)
            if early and _is_certain(node, scope, file) and _opens(node, scope, project):
                return node, scope
    callers = project.callers(function)[:_MOST] if depth and function.name != "<module>" else []
    found = [_opened_before(one, caller, project, depth - 1) for one, caller in callers]
    return found[0] if found and all(one is not None for one in found) else None


def _opens(node: ast.AST, function: Function, project: Project, depth: int = _DEPTH) -> bool:
    """Whether a call opens CUDA, itself or in what it surely runs."""
    if opens_cuda(node, function, project):
        return True
    if not isinstance(node, ast.Call) or not depth:
        return False
    targets = project.targets(node, function)
    return len(targets) == 1 and not is_generator(targets[0]) and any(
        _is_certain(one, targets[0], project.file_with(targets[0])) and _opens(one, targets[0], project, depth - 1)
        for one in targets[0].nodes_of(ast.Call)
    )  # fmt: skip


def _is_certain(node: ast.AST, function: Function, file: ProjectFile, *, looped: bool = False) -> bool:
    """Whether nothing but `with` and `try` stands around a node; `looped`: or a loop, which goes round in a process."""
    outer = file.parents.get(node)
    while outer is not None and outer is not function.syntax:
        if looped and isinstance(outer, (ast.For, ast.While)):
            outer = file.parents.get(outer)
            continue
        if isinstance(outer, (ast.If, ast.IfExp, ast.For, ast.While, ast.Lambda, ast.BoolOp, ast.ClassDef)):
            return False
        outer = file.parents.get(outer)
    return True


def _opened_by_target(
    call: ast.Call, function: Function, project: Project, subclass: ast.ClassDef | None
) -> tuple[ast.AST, Function] | None:
    target = next((one.value for one in call.keywords if one.arg in ("target", "initializer")), None)
    started = list(project.meant(target, function)) if target is not None else []
    run = project.method(subclass, "run") if subclass is not None else None
    for meant in [*started, *([run] if run is not None else [])]:
        for one in reached_from(meant, project):
            for node in one.own_nodes:
                if opens_cuda(node, one, project) and _is_certain(node, one, project.file_with(one), looped=True):
                    return node, one
    return None

"""CUDA is used before a process is forked that uses it, too.

What it does: flags processes that are started by fork (multiprocessing.Process and Pool, where nothing chooses spawn)
and whose target uses CUDA, after the module or the same function has used CUDA.

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

from diagnostics.analysis.audited_file import AuditedFile
from diagnostics.analysis.device_words import moved_to, names_gpu
from diagnostics.analysis.flow_files import Function
from diagnostics.analysis.project import Project
from diagnostics.findings import Confidence, Severity
from diagnostics.hits import Hit, hit, step

CODE = "A407"
NAME = "cuda-before-fork"
SEVERITY = Severity.ERROR
WORDS = ("Process", "Pool")
CHECKLIST = "processes that use CUDA are spawned, not forked"
_FORKS = frozenset(["multiprocessing.Process", "torch.multiprocessing.Process", "multiprocessing.Pool",
                    "torch.multiprocessing.Pool", "multiprocessing.context.Process"])  # fmt: skip
_OPENS = frozenset(
    ["torch.cuda.current_device", "torch.cuda.get_device_properties", "torch.cuda.get_device_name",
     "torch.cuda.synchronize", "torch.cuda.mem_get_info", "torch.cuda.init", "torch.cuda.current_stream",
     "torch.cuda.get_device_capability"]
)  # fmt: skip


def check(file: AuditedFile, project: Project) -> Iterator[Hit]:
    """Yields the forks after CUDA was opened."""
    calls = list(project.calls_in(file))
    starts = [(call, function) for call, function in calls if project.name(call.func, function) in _FORKS]
    if not starts or _chooses_spawn(project):
        return
    for call, function in starts:
        before = _opened_before(call, function, file, project)
        inside = _opened_by_target(call, function, project)
        if before is None or inside is None:
            continue
        used, where = inside
        yield hit(
            file,
            call,
            "this process is forked from one that has CUDA open, and uses CUDA: 'Cannot re-initialize CUDA in forked "
            "subprocess'",
            'torch.multiprocessing.get_context("spawn").Process(...)',
            steps=(
                step(file, before, "CUDA is opened here"),
                step(file, call, "the process is forked"),
                step(project.file_with(where), used, "it uses CUDA"),
            ),
            confidence=Confidence.CONFIRMED,
        )


def _chooses_spawn(project: Project) -> bool:
    return any({"set_start_method", "forkserver"} & file.words for file in project.python)


def opens_cuda(node: ast.AST, function: Function, project: Project) -> bool:
    """Whether a call opens CUDA in this process."""
    if not isinstance(node, ast.Call):
        return False
    return names_gpu(moved_to(node)) or project.name(node.func, function) in _OPENS


def _opened_before(call: ast.Call, function: Function, file: AuditedFile, project: Project) -> ast.AST | None:
    for scope in {id(function): function, id(project.module_of(file)): project.module_of(file)}.values():
        for node in scope.own_nodes:
            early = scope is not function or getattr(node, "lineno", 0) < call.lineno
            if early and opens_cuda(node, scope, project) and _is_certain(node, scope, file):
                return node
    return None


def _is_certain(node: ast.AST, function: Function, file: AuditedFile) -> bool:
    """Whether nothing but `with` and `try` stands around a node."""
    outer = file.parents.get(node)
    while outer is not None and outer is not function.syntax:
        if isinstance(outer, (ast.If, ast.IfExp, ast.For, ast.While, ast.Lambda, ast.BoolOp, ast.ClassDef)):
            return False
        outer = file.parents.get(outer)
    return True


def _opened_by_target(call: ast.Call, function: Function, project: Project) -> tuple[ast.AST, Function] | None:
    target = next((one.value for one in call.keywords if one.arg in ("target", "initializer")), None)
    for meant in project.meant(target, function) if target is not None else ():
        for node in meant.own_nodes:
            if opens_cuda(node, meant, project) and _is_certain(node, meant, project.file_with(meant)):
                return node, meant
    return None

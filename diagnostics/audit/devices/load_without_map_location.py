"""torch.load without map_location.

What it does: flags torch.load() that does not say where tensors go. Confirmed where the same file trains on GPUs with
several ranks, saves what it loads, and loads it on each rank; likely where its only caller, in another file, does all
of this, and where a program's option names the file.

Why it matters: a file remembers the device it was saved from. Saved by rank 0, every rank loads it onto GPU 0: eight
copies on one GPU, out of memory at the first resume. On a machine with fewer GPUs, or none, it fails: "Attempting to
deserialize object on CUDA device 1 but torch.cuda.device_count() is 0".

Bad:

    model.load_state_dict(torch.load(path))

Good:

    model.load_state_dict(torch.load(path, map_location="cpu"))

What it cannot see: where a file was saved. Data that was written by a CPU loads well without: there it says possible.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Edit, ExplanationStep, Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.taint_sources import RANK, source_of
from diagnostics.static.executed.saved_files import loaded_onto_one_device
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project, per_project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.devices import denotes_gpu, moved_to

CODE = "A404"
NAME = "load-without-map-location"
SEVERITY = Severity.WARNING
WORDS = ("load",)
CHECKLIST = "torch.load says map_location"
_OPTION = re.compile(r"init|pretrain|weight|ckpt|checkpoint|resume|snapshot|model", re.IGNORECASE)

_FOREIGN = re.compile(r"init|pretrain|weight", re.IGNORECASE)  # what another program has saved
_DEVICES = frozenset(["cuda", "device", "xpu", "mps", "npu", "accelerator", "Accelerator", "Trainer", "Fabric",
                      "fabric", "deepspeed", "pytorch_lightning", "lightning", "nccl", "gpu", "gpus"])  # fmt: skip
_OPTIONS = frozenset(["args", "opt", "opts", "options", "cfg", "config", "conf", "hparams", "flags", "FLAGS"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the loads that leave the device to the file."""
    yield from also(_read(file, project), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for loaded, saved in loaded_onto_one_device(execution):
        yield violation(
            home(loaded, project),
            loaded.node,
            "every rank loads what one rank has saved from its GPU, and all of them put it there: the memory of that "
            "GPU holds it once for each rank",
            'torch.load(path, map_location="cpu")',
            steps=(shown(saved, project, "saved by one rank, from a model on its GPU"),),
            confidence=Confidence.LIKELY,
        )


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
    for call, function in project.calls_in(file):
        if last_name(call.func) != "load" or project.name(call.func, function) != "torch.load" or not call.args:
            continue
        words = {one.arg for one in call.keywords}
        if len(call.args) > 1 or "map_location" in words or None in words or _in_memory(call.args[0], function):
            continue
        if _of_own_rank(call.args[0], function) or _has_just_saved(call, function, file, project):
            continue  # what a rank, or the one process, saved it loads to where it was
        state = _is_state(call, function, file)
        confidence, steps = _judged(call, function, file, project, state)
        if _is_said_elsewhere(call, file):
            confidence = Confidence.POSSIBLE  # in this arm, one process has all GPUs
        yield violation(
            file,
            call,
            f"{ast.unparse(call)[:80]} puts tensors on the device they were saved from: "
            + ("every rank on the same GPU" if steps else "an error on a machine without that GPU"),
            'map_location="cpu"; load_state_dict() copies to where the model is',
            steps=steps,
            confidence=confidence,
            edits=_edits(call, file) if state else (),
        )


def _judged(
    call: ast.Call, function: Function, file: ProjectFile, project: Project, state: bool
) -> tuple[Confidence, tuple[ExplanationStep, ...]]:
    path = call.args[0]
    asked = isinstance(path, ast.Attribute) and last_name(path.value) in _OPTIONS
    name = path.attr if asked and isinstance(path, ast.Attribute) else ""
    option = bool(_OPTION.search(name))
    if state:
        ranks = _first(file, project, _is_ranks)
        gpu = _first(file, project, _is_gpu)
        saved = _first(file, project, _is_save)
        if ranks and gpu and saved and not file.is_test:
            steps = (
                step(file, gpu, "tensors lie on GPUs"),
                step(file, saved, "they are saved from there"),
                step(file, ranks, "several ranks run this"),
                step(file, call, "each loads them to where they were"),
            )
            return Confidence.CONFIRMED, steps
        elsewhere = _loaded_by_ranks(call, function, file, project)
        if elsewhere:
            return Confidence.LIKELY, elsewhere
        own = saved and not _knows_devices(project) and not _FOREIGN.search(name)
        if (option and not own) or (ranks and gpu and not file.is_test):
            return Confidence.LIKELY, ()
    return Confidence.POSSIBLE, ()


@per_project
def _knows_devices(project: Project) -> bool:
    """Whether any file has a word of devices, or of a library that chooses one: else all files come from a CPU."""
    return any(not one.words.isdisjoint(_DEVICES) for one in project.modules)


def _loaded_by_ranks(
    call: ast.Call, function: Function, file: ProjectFile, project: Project
) -> tuple[ExplanationStep, ...]:
    """Returns the steps where the only caller is in another file, which has ranks and GPUs; either of them saves."""
    callers = project.callers(function)
    if len(callers) != 1 or _is_guarded(callers[0][0], project.file_with(callers[0][1])):
        return ()
    asked, caller = callers[0]
    other = project.file_with(caller)
    ranks, gpu = (_first(other, project, fits) for fits in (_is_ranks, _is_gpu))
    keeps = next((one for one in (other, file) if _saves(one, project) is not None), other)
    saved = _saves(keeps, project)
    if other is file or ranks is None or gpu is None or saved is None:
        return ()
    return (
        step(other, gpu, "tensors lie on GPUs"),
        step(keeps, saved, "they are saved from there"),
        step(other, ranks, "several ranks run this"),
        step(other, asked, "each of them resumes"),
        step(file, call, "each loads them to where they were"),
    )


def _is_guarded(call: ast.AST, file: ProjectFile) -> bool:
    """Whether a condition that names a rank stands around a call."""
    outer = file.parents.get(call)
    while outer is not None:
        if isinstance(outer, ast.If) and re.search(r"rank|main|master", ast.unparse(outer.test), re.IGNORECASE):
            return not ast.unparse(outer.test).startswith("__name__")
        outer = file.parents.get(outer)
    return False


def _first(file: ProjectFile, project: Project, fits: Callable[[ast.Call, str], bool]) -> ast.AST | None:
    found = (
        (call, function) for call, function in project.calls_in(file) if fits(call, project.name(call.func, function))
    )
    return next((call for call, _ in found), None)


def _is_said_elsewhere(call: ast.Call, file: ProjectFile) -> bool:
    """Whether the other arm of a test loads the same file, and says where to."""
    arm: ast.AST | None = call
    while arm is not None and not isinstance(file.parents.get(arm), ast.If):
        arm = file.parents.get(arm)
    test = file.parents.get(arm) if arm is not None else None
    return isinstance(test, ast.If) and any(
        isinstance(node, ast.Call)
        and any(word.arg == "map_location" for word in node.keywords)
        and bool(node.args)
        and ast.unparse(node.args[0]) == ast.unparse(call.args[0])
        for part in (*test.body, *test.orelse)
        for node in walk(part)
    )


def _of_own_rank(path: ast.expr, function: Function) -> bool:
    """Whether the file's name has the rank in it."""
    values = [path, *(function.assigned.get(path.id, ()) if isinstance(path, ast.Name) else ())]
    return any(source_of(node) == RANK for value in values for node in walk(value))


def _has_just_saved(call: ast.Call, function: Function, file: ProjectFile, project: Project) -> bool:
    """Whether the program, one process, saves the same path further up in the function: it has that device.

    Where several ranks run, one of them saves and all load, which is what the rule is about.
    """
    if _first(file, project, _is_ranks) is not None:
        return False
    path = ast.unparse(call.args[0])
    return any(
        isinstance(node, ast.Call)
        and node.lineno < call.lineno
        and "save" in last_name(node.func).lower()
        and any(ast.unparse(one) == path for one in (*node.args, *(word.value for word in node.keywords)))
        for node in function.nodes_of(ast.Call)
    )


def _in_memory(path: ast.expr, function: Function) -> bool:
    """Whether what is loaded was saved by the same process a moment ago: into a BytesIO."""
    values = function.assigned.get(path.id, []) if isinstance(path, ast.Name) else [path]
    return any(last_name(value) == "BytesIO" for value in values)


def _is_ranks(call: ast.Call, name: str) -> bool:
    return name.startswith("torch.distributed.init_process_group") or name.endswith("DistributedDataParallel")


def _is_gpu(call: ast.Call, name: str) -> bool:
    return name == "torch.cuda.set_device" or denotes_gpu(moved_to(call))


def _saves(file: ProjectFile, project: Project) -> ast.AST | None:
    """Returns where a file saves a state, by its own text or by that of the name it is kept under."""
    for call, function in project.calls_in(file):
        if project.name(call.func, function) != "torch.save" or not call.args:
            continue
        kept = function.assigned.get(call.args[0].id, ()) if isinstance(call.args[0], ast.Name) else ()
        told = [ast.unparse(one) for one in kept]
        if _is_save(call, "torch.save") or any("state_dict" in one and ".cpu()" not in one for one in told):
            return call
    return None


def _is_save(call: ast.Call, name: str) -> bool:
    text = ast.unparse(call) if name == "torch.save" else ""
    return any(word in text for word in ("state", "save_data", "checkpoint", "ckpt")) and ".cpu()" not in text


def _is_state(call: ast.Call, function: Function, file: ProjectFile) -> bool:
    """Whether what is loaded goes into load_state_dict."""
    outer = file.parents.get(call)
    while isinstance(outer, (ast.Subscript, ast.Call, ast.Attribute)):
        if isinstance(outer, ast.Call) and last_name(outer.func) == "load_state_dict":
            return True
        outer = file.parents.get(outer)
    names = [one.id for one in getattr(outer, "targets", ()) if isinstance(one, ast.Name)]
    return any(
        isinstance(node, ast.Call) and last_name(node.func) == "load_state_dict"
        and any(isinstance(one, ast.Name) and one.id in names for value in node.args for one in walk(value))
        for node in function.own_nodes
    )  # fmt: skip


def _edits(call: ast.Call, file: ProjectFile) -> tuple[Edit, ...]:
    values = [*call.args, *(one.value for one in call.keywords)]
    last = max(values, key=lambda one: (one.end_lineno or 0, one.end_col_offset or 0))
    if last.end_lineno is None or last.end_col_offset is None or isinstance(last, (ast.GeneratorExp, ast.Tuple)):
        return ()
    line = file.line(last.end_lineno).encode()
    if line[last.end_col_offset : last.end_col_offset + 1] not in (b")", b","):
        return ()
    end = (last.end_lineno, last.end_col_offset)
    return (Edit(start=end, end=end, text=', map_location="cpu"'),)

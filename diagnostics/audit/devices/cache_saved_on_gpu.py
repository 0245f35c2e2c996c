"""Tensors are cached with torch.save while they lie on a GPU.

What it does: flags torch.save() of tensors that `.cuda()`, `.to("cuda")` or a model moved to a GPU gave, without
`.cpu()`. state_dicts of models are not flagged: load_state_dict() copies them to where they belong. Behind objects and
methods: what a model on a GPU gave, where data workers load it without map_location.

Why it matters: the file remembers "cuda:3". Each process that loads it puts it on that very GPU, all ranks on the same
one; a machine without it fails: "Attempting to deserialize object on a CUDA device".

Bad:

    torch.save({"latents": encoder(x.cuda())}, path)

Good:

    torch.save({"latents": encoder(x.cuda()).cpu()}, path)

What it cannot see: files that another program wrote, and functions with more than four callers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.device_files import saved_on_gpu_for_workers
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.devices import is_on_gpu

CODE = "A402"
NAME = "cache-saved-on-gpu"
SEVERITY = Severity.WARNING
WORDS = ("save",)
CHECKLIST = "caches are saved from the CPU"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the torch.save calls that write tensors of a GPU."""
    yield from also(_read(file, project), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for saved, loaded in saved_on_gpu_for_workers(execution):
        yield violation(
            home(saved, project),
            saved.node,
            "torch.save writes what a model on a GPU gave, and data workers load it to where it was: a forked worker "
            "cannot begin CUDA anew",
            "move it first: tensor.cpu(); and load with map_location='cpu'",
            steps=(shown(loaded, project, "loaded here, in a data worker"),),
            confidence=Confidence.LIKELY,
        )


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
    for call, function in project.calls_in(file):
        if not call.args or project.name(call.func, function) != "torch.save":
            continue
        sure = is_on_gpu(call.args[0], function, project)
        if not sure or _is_model(call.args[0]) or _into_memory(call, function) or _loads_elsewhere(file, project):
            continue
        yield violation(
            file,
            call,
            f"torch.save writes {ast.unparse(call.args[0])[:60]} from a GPU: every process that loads it puts it on "
            "that GPU, and machines without one cannot load it",
            "move it first: tensor.cpu()",
            confidence=Confidence.CONFIRMED if sure == "always" else Confidence.LIKELY,
        )


def _loads_elsewhere(file: ProjectFile, project: Project) -> bool:
    """Whether the file loads with torch, too, and says to which device each time."""
    loads = [one for one, where in project.calls_in(file) if project.name(one.func, where) == "torch.load"]
    return bool(loads) and all(any(word.arg == "map_location" for word in one.keywords) for one in loads)


def _into_memory(call: ast.Call, function: Function) -> bool:
    """Whether it is saved into a BytesIO, to be sent: no file stays."""
    target = call.args[1] if len(call.args) > 1 else None
    values = function.assigned.get(target.id, []) if isinstance(target, ast.Name) else [target]
    return any(value is not None and last_name(value) == "BytesIO" for value in values)


def _is_model(value: ast.expr) -> bool:
    """Whether a whole model is saved by its name: then its file is a checkpoint."""
    text = ast.unparse(value).lower()
    return isinstance(value, ast.Name) and any(word in text for word in ("model", "net", "state", "ckpt", "checkpoint"))

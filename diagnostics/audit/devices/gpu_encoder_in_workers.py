"""A data set holds a model on a GPU and is given to loader workers.

What it does: flags data sets that move a module of theirs to a GPU (in __init__), or are given one that lies there,
and call it in __getitem__, where the loader has workers.

Why it matters: forked workers cannot use CUDA ("Cannot re-initialize CUDA in forked subprocess"); spawned ones each
copy the model and open a CUDA context: eight workers on eight ranks are sixty-four contexts.

Bad:

    class Latents(Dataset):
        def __init__(self, encoder):
            self.encoder = encoder.cuda()
        def __getitem__(self, i):
            return self.encoder(self.rows[i])

Good:

    encode once into files (on the CPU: `.cpu()`), or encode the batch in the training loop

What it cannot see: encoders behind functions of the project.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.devices import gpu_of, is_on_gpu, moved_to
from diagnostics.static.torch_code.loader_workers import workers_over
from diagnostics.static.torch_code.module_classes import ModuleClass, class_tree, own_attribute

CODE = "A403"
NAME = "gpu-encoder-in-workers"
SEVERITY = Severity.ERROR
WORDS = ("Dataset", "IterableDataset")
_SAME = ("eval", "train", "requires_grad_", "half", "float")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the modules that a data set holds on a GPU and calls in workers."""
    tree = class_tree(project)
    for function in project.functions_in(file):
        known = tree.by_syntax.get(id(function.owner)) if function.owner is not None else None
        if known is not None and function.name.endswith(".__init__") and tree.is_dataset(known):
            for attribute, node, sure in _held(function, project):
                yield from _called(file, project, known, attribute, node, sure)


def _held(function: Function, project: Project) -> Iterator[tuple[str, ast.Assign, str]]:
    """Yields (attribute, where, how sure) of what __init__ keeps on a GPU."""
    for node in function.own_nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and own_attribute(node.targets[0]):
            calls = [one for one in walk(node.value) if isinstance(one, ast.Call)]
            sure = [gpu_of(device, function, project) for one in calls if (device := moved_to(one)) is not None]
            if any(sure):
                yield own_attribute(node.targets[0]), node, "always" if "always" in sure else "perhaps"
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and (attribute := own_attribute(node.targets[0])):
            given = is_on_gpu(node.value, function, project) if _is_given(node.value, function) else ""
            if given:
                yield attribute, node, given


def _is_given(value: ast.expr, function: Function) -> bool:
    """Whether a value is a parameter, perhaps in eval(): what it is, the callers say."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _SAME:
        value = value.func.value
    return isinstance(value, ast.Name) and value.id in function.parameters


def _called(
    file: ProjectFile, project: Project, known: ModuleClass, attribute: str, node: ast.Assign, sure: str
) -> Iterator[Violation]:
    workers, loader = workers_over(known, project)
    call = next((one for method in known.syntax.body if getattr(method, "name", "") in ("__getitem__", "__iter__")
                 for one in walk(method) if isinstance(one, ast.Call)
                 and _runs(one.func, attribute)), None)  # fmt: skip
    if call is None or workers == "none":
        return
    steps = [step(file, node, f"self.{attribute} lies on a GPU"), step(file, call, "workers call it")]
    if loader is not None:
        steps.append(step(project.file_with(loader.function), loader.call, f"the loader has workers ({workers})"))
    confidence = Confidence.POSSIBLE
    if workers == "some":
        confidence = Confidence.CONFIRMED if sure == "always" else Confidence.LIKELY
    elif workers == "unknown" and sure == "always":
        confidence = Confidence.LIKELY
    moved = any(moved_to(one) is not None for one in walk(node.value))
    yield violation(
        file,
        node if moved else call,  # who is given it may not know where it lies
        f"{known.syntax.name} holds self.{attribute} on a GPU and calls it in loader workers: forked workers cannot "
        "use CUDA, spawned ones copy it each",
        "encode once into files, or in the training loop",
        steps=tuple(steps),
        confidence=confidence,
    )


def _runs(called: ast.expr, attribute: str) -> bool:
    """Whether a call runs the module: self.encoder(x), self.encoder.encode(x)."""
    if isinstance(called, ast.Attribute) and called.attr.startswith(("encode", "forward")):
        return attribute in (own_attribute(called), own_attribute(called.value))
    return own_attribute(called) == attribute

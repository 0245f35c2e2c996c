"""One of two models that are trained together is not wrapped.

What it does: flags a model of the project's own that an optimizer steps in a function where another one is wrapped in
DistributedDataParallel, and that itself is neither wrapped, nor sharded, nor handed to anything that may do so.

Why it matters: DDP averages the gradients of what it wraps. The other model, the discriminator beside a wrapped
generator, a second head, a learned loss, gets gradients of the rank's own data alone: each rank trains another one, and
nothing fails.

Bad:

    g, d = DDP(Generator()), Discriminator()
    opt_d = torch.optim.Adam(d.parameters())

Good:

    g, d = DDP(Generator()), DDP(Discriminator())
    opt_d = torch.optim.Adam(d.parameters())

What it cannot see: models that reach the function as arguments. Where gradients are averaged by hand anywhere in the
project, nothing is said.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.value_uses import uses
from diagnostics.static.ordering.traced_calls import is_optimizer
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.collective_sites import CollectiveSites
from diagnostics.static.spmd.library_objects import LibraryType
from diagnostics.static.torch_code.model_wrappers import DDP, WrapSite, wraps_in

CODE = "A115"
NAME = "model-left-bare"
SEVERITY = Severity.ERROR
RUN_CLASS, RUN_WHEN = "gradients-not-synchronised", "ranks"
WORDS = ("DistributedDataParallel", "DDP")
CHECKLIST = "every model that is trained is wrapped"
# Methods of a model that give it to nobody else, and that give back the model itself.
_OWN = {"to", "cuda", "train", "eval", "parameters", "named_parameters", "zero_grad", "state_dict", "load_state_dict",
        "requires_grad_", "apply", "half", "float", "double", "bfloat16", "forward"}  # fmt: skip


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the optimizers of models that stay bare beside a wrapped one."""
    wraps = [one for one in wraps_in(file, project) if one.kind == DDP]
    if not wraps or any(_averages(one, project) for one in project.python):
        return
    yield from _kept_bare(file, wraps[0], project)
    seen: set[int] = set()
    for wrap in wraps:
        if id(wrap.function) not in seen:
            seen.add(id(wrap.function))
            yield from _in_function(file, wrap, project)


def _in_function(file: ProjectFile, wrap: WrapSite, project: Project) -> Iterator[Violation]:
    function = wrap.function
    for call in (one for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call)):
        if not is_optimizer(project.name(call.func, function)):
            continue
        for model in sorted(_stepped(call)):
            made = _made(model, function, project)
            if made is None or _given_away(model, function, project):
                continue
            # Two of one class are compared with each other: one with DDP, one without.
            if _classes(model, function, project).isdisjoint(_classes(ast.unparse(wrap.model), function, project)):
                yield violation(
                    file,
                    made,
                    f"{model} is trained beside a wrapped model and is not wrapped itself: its gradients are never "
                    "averaged, and every rank trains another one",
                    f"wrap it, too: {model} = DistributedDataParallel({model})",
                    steps=(step(file, wrap.call, "the other one is wrapped"), step(file, call, f"{model} is trained")),
                    confidence=Confidence.LIKELY,
                )


def _kept_bare(file: ProjectFile, wrap: WrapSite, project: Project) -> Iterator[Violation]:
    """Yields the models that an object keeps bare, where it keeps another one wrapped: `self.critic`."""
    objects = project.fact(CollectiveSites).objects
    for call, function in project.calls_in(file):
        first = call.args[0] if call.args else None
        kind = project.class_of(function)
        match first:
            case ast.Call(func=ast.Attribute(value=ast.Attribute() as model, attr="parameters"), args=[]):
                kept = project.attribute_values(model, function)
            case _:
                continue
        if kind is None or len(kept) != 1 or not is_optimizer(project.name(call.func, function)):
            continue
        made, where = kept[0]
        fresh = isinstance(made, ast.Call) and (
            _makes_module(made, where, project) or project.name(made.func, where).startswith("torch.nn.")
        )
        if not fresh or project.class_of(where) is not kind or objects.of(made, where):
            continue
        others = [one for one, home in project.attributes_of(kind) if LibraryType.DDP in objects.of(one, home)]
        if others and not any(_leaves_hands(one, home, project) for one, home in uses(made, where, project)):
            yield violation(
                file,
                made,
                f"{ast.unparse(model)} is trained beside a wrapped model and is not wrapped itself: its gradients are "
                "never averaged, and every rank trains another one",
                f"wrap it, too: {ast.unparse(model)} = DistributedDataParallel(...)",
                steps=(step(file, wrap.call, "the other one is wrapped"), step(file, call, "it is trained")),
                confidence=Confidence.LIKELY,
            )


def _leaves_hands(use: ast.expr, function: Function, project: Project) -> bool:
    """Whether a model is given to something that is not known: it may wrap it."""
    around = project.file_with(function).parents.get(use)
    if isinstance(around, ast.Attribute):
        return around.attr not in _OWN and not isinstance(around.ctx, ast.Store)
    if isinstance(around, ast.Call):
        return around.func is not use and not _only_uses(around, function, project)
    return isinstance(around, (ast.List, ast.Tuple, ast.Dict, ast.keyword))


def _averages(file: ProjectFile, project: Project) -> bool:
    """Whether gradients may be averaged by hand: a collective beside `.grad`."""
    return "grad" in file.words and any(
        isinstance(node, ast.Attribute) and node.attr == "grad" for node in (walk(file.tree) if file.tree else ())
    ) and any(project.communicates(call, function) for call, function in project.calls_in(file))  # fmt: skip


def _stepped(call: ast.Call) -> set[str]:
    """Returns the names of the models whose parameters an optimizer is given, where it is given nothing else."""
    first = call.args[0] if call.args else None
    match first:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="parameters"), args=[]):
            return {name}
    return set()


def _made(model: str, function: Function, project: Project) -> ast.expr | None:
    """Returns where a model of the project is made and never wrapped, under the one name."""
    made: ast.expr | None = None
    for node in function.nodes_of(ast.Assign):
        assert isinstance(node, ast.Assign)  # noqa: S101 (asked for by kind)
        for target in node.targets:
            for name, value in _pairs(target, node.value):
                if name == model:
                    if made is not None or not _makes_module(value, function, project):
                        return None
                    made = value
    return made


def _classes(model: str, function: Function, project: Project) -> set[str]:
    """Returns the names of what is called to make what has this name."""
    return (
        {
            last_name(call.func)
            for node in function.nodes_of(ast.Assign)
            if isinstance(node, ast.Assign)
            for target in node.targets
            for name, value in _pairs(target, node.value)
            if name == model
            for call in walk(value)
            if isinstance(call, ast.Call)
        }
        - _OWN
        - {"DistributedDataParallel", "DDP"}
    )


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple):
        values = value.elts if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts) else ()
        for at, one in enumerate(target.elts):
            if isinstance(one, ast.Name):
                yield one.id, values[at] if values else value


def _makes_module(value: ast.expr, function: Function, project: Project) -> bool:
    """Whether a value is an object of a class of the project, made here and moved at most."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _OWN:
        value = value.func.value
    if not isinstance(value, ast.Call):
        return False
    return project.class_named(last_name(value.func), value.func, function.file) is not None


def _given_away(model: str, function: Function, project: Project) -> bool:
    """Whether a model is handed to a call that may wrap it, kept elsewhere, or averaged: anything but its own use."""
    parents = project.file_with(function).parents
    for node in function.own_nodes:
        if not isinstance(node, ast.Name) or node.id != model or not isinstance(node.ctx, ast.Load):
            continue
        around = parents.get(node)
        if isinstance(around, ast.Attribute) and around.attr in _OWN:
            continue
        if isinstance(around, ast.Call) and around.func is node:
            continue
        if isinstance(around, ast.keyword) and last_name(getattr(parents.get(around), "func", ast.Constant(0))) in (
            "SimpleNamespace", "dict",
        ):  # fmt: skip
            continue  # held together with the others, under its own name
        if (
            isinstance(around, ast.Call)
            and any(one is node for one in around.args)
            and _only_uses(around, function, project)
        ):
            continue
        return True
    return False


def _only_uses(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether a function of the project that is given the model neither wraps it nor hands it on."""
    targets = project.targets(call, function)
    words = {"DistributedDataParallel", "DDP", "FSDP", "FullyShardedDataParallel", "fully_shard", "prepare", "setup"}
    return bool(targets) and not any(
        last_name(node.func) in words or any(isinstance(one, ast.Starred) for one in node.args)
        for target in targets
        for node in target.nodes_of(ast.Call)
        if isinstance(node, ast.Call)
    )

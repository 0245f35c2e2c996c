"""An auto-wrap policy for classes that no model of the project is made of.

What it does: flags transformer_auto_wrap_policy and ModuleWrapPolicy whose classes are all defined in the project and
never made anywhere in it, nor handed over, nor inherited from; and torch's layers that a wrapped model, all of it the
project's, does not use.

Why it matters: nothing is wrapped but the whole model. It is gathered in one piece, so peak memory is that of DDP, and
FSDP seems not to work.

Bad:

    policy = ModuleWrapPolicy({OldBlock})  # the model is made of Block

Good:

    policy = ModuleWrapPolicy({Block})

What it cannot see: classes of other libraries, models that libraries make, and thresholds of size: how large a part is,
source does not say.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import ExplanationStep, Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.model_wrappers import FSDP, class_wrapped, wraps_in
from diagnostics.static.torch_code.submodules import classes_inside

CODE = "A108"
NAME = "wrap-policy-never-matches"
SEVERITY = Severity.WARNING
WORDS = ("transformer_auto_wrap_policy", "ModuleWrapPolicy")
_LAYER = re.compile(r"^torch\.nn\.(?:\w+\.)*Transformer(?:En|De)coderLayer$")
_PARTIALS = {"functools.partial"}


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the policies whose classes nothing is made of."""
    for call, function in project.calls_in(file):
        wanted = _classes(call, function, project)
        if wanted and all(_is_torchs(one, function, project) for one in wanted):
            yield from _of_torch(file, call, wanted, project)
            continue
        kinds = [project.class_named(last_name(one), one, function.file) for one in wanted]
        known = [one for one in kinds if one is not None]
        if wanted and len(known) == len(wanted) and not any(_is_made(one, call, project) for one in known):
            names = ", ".join(one.name for one in known)
            yield violation(
                file,
                wanted[0],
                f"the policy wraps {names}, of which nothing in the project is made: only the whole model is wrapped",
                "name the class that the model's layers are of",
                steps=tuple(_defined(one, project) for one in known),
                confidence=Confidence.LIKELY,
            )


def _of_torch(file: ProjectFile, call: ast.Call, wanted: list[ast.expr], project: Project) -> Iterator[Violation]:
    """Yields a policy for layers of torch where the models of its file are known to have none."""
    names = [last_name(one) for one in wanted]
    wraps = [one for one in wraps_in(file, project) if one.kind == FSDP]
    wholes = [class_wrapped(one, project) for one in wraps]
    used = any(_is_named(one, call, project) for one in (*names, "Transformer"))
    if used or not wholes or not all(one is not None and _is_own(one, project) for one in wholes):
        return
    yield violation(
        file,
        wanted[0],
        f"the policy wraps {', '.join(names)}, of which the project makes nothing: only the whole model is wrapped",
        "name the class that the model's layers are of",
        steps=tuple(_defined(one, project, "is what is wrapped") for one in wholes[:1] if one is not None),
        confidence=Confidence.LIKELY,
    )


def _is_torchs(value: ast.expr, function: Function, project: Project) -> bool:
    return bool(_LAYER.match(project.name(value, function)))


def _is_own(kind: ast.ClassDef, project: Project) -> bool:
    """Whether a model and its parts are made of the project's classes and of torch's only."""
    for one in classes_inside(kind, project):
        module = project.module_of_class(one)
        bases = [project.name(base, module) for base in one.bases] if module is not None else [""]
        if module is None or not all(base == "torch.nn.Module" for base in bases):
            return False
        methods = [project.by_syntax[id(node)] for node in one.body if id(node) in project.by_syntax]
        calls = [
            (node, method) for method in methods for node in method.nodes_of(ast.Call) if isinstance(node, ast.Call)
        ]
        if not all(_is_seen(node, method, project) for node, method in calls if method.name.endswith("__init__")):
            return False
    return True


def _is_seen(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether what a call makes is seen: torch's and Python's own, or the project's class."""
    name = project.name(call.func, function)
    if name.partition(".")[0] in ("torch", "math", "range", "super", "len", "int"):
        return True
    known = project.class_named(last_name(call.func), call.func, function.file) is not None
    return known or ast.unparse(call.func) == "super().__init__"


def _classes(call: ast.Call, function: Function, project: Project) -> list[ast.expr]:
    name = project.name(call.func, function)
    values: list[ast.expr] = []
    if name == "torch.distributed.fsdp.wrap.ModuleWrapPolicy":
        values = call.args[:1]
    elif name in _PARTIALS and call.args and last_name(call.args[0]) == "transformer_auto_wrap_policy":
        values = [one.value for one in call.keywords if one.arg == "transformer_layer_cls"]
    for value in values:
        if isinstance(value, (ast.Set, ast.List, ast.Tuple)):
            return [one for one in value.elts if isinstance(one, (ast.Name, ast.Attribute))]
    return []


def _is_made(kind: ast.ClassDef, policy: ast.Call, project: Project) -> bool:
    """Whether the class's name is used for anything but its definition, imports and this policy."""
    return _is_named(kind.name, policy, project)


def _is_named(wanted: str, policy: ast.Call, project: Project) -> bool:
    inside = {id(one) for one in walk(policy)}
    for file in project.python:
        if wanted in file.words and file.tree is not None:
            for one in walk(file.tree):
                name = one.id if isinstance(one, ast.Name) else one.attr if isinstance(one, ast.Attribute) else ""
                text = one.value if isinstance(one, ast.Constant) and isinstance(one.value, str) else ""
                if wanted in (name, text) and id(one) not in inside:
                    return True
    return False


def _defined(kind: ast.ClassDef, project: Project, what: str = "is defined here and never made") -> ExplanationStep:
    file = next(shown for shown, one in project.classes[kind.name] if one is kind)
    return step(project.by_path[file], kind, f"{kind.name} {what}")

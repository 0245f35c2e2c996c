"""An auto-wrap policy for classes that no model of the project is made of.

What it does: flags transformer_auto_wrap_policy and ModuleWrapPolicy whose classes are all defined in the project and
never made anywhere in it, nor handed over, nor inherited from.

Why it matters: nothing is wrapped but the whole model. It is gathered in one piece, so peak memory is that of DDP, and
FSDP seems not to work.

Bad:

    policy = ModuleWrapPolicy({OldBlock})  # the model is made of Block

Good:

    policy = ModuleWrapPolicy({Block})

What it cannot see: classes of libraries, and thresholds of size: how large a part is, source does not say.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.analysis.audited_file import AuditedFile
from diagnostics.analysis.flow_files import Function, last_name
from diagnostics.analysis.project import Project
from diagnostics.findings import Confidence, Severity
from diagnostics.hits import Hit, Step, hit, step

CODE = "A108"
NAME = "wrap-policy-never-matches"
SEVERITY = Severity.WARNING
WORDS = ("transformer_auto_wrap_policy", "ModuleWrapPolicy")
_PARTIALS = {"functools.partial"}


def check(file: AuditedFile, project: Project) -> Iterator[Hit]:
    """Yields the policies whose classes nothing is made of."""
    for call, function in project.calls_in(file):
        wanted = _classes(call, function, project)
        kinds = [project.class_named(last_name(one), one, function.file) for one in wanted]
        known = [one for one in kinds if one is not None]
        if wanted and len(known) == len(wanted) and not any(_is_made(one, call, project) for one in known):
            names = ", ".join(one.name for one in known)
            yield hit(
                file,
                call,
                f"the policy wraps {names}, of which nothing in the project is made: only the whole model is wrapped",
                "name the class that the model's layers are of",
                steps=tuple(_defined(one, project) for one in known),
                confidence=Confidence.LIKELY,
            )


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
    inside = {id(one) for one in ast.walk(policy)}
    for file in project.python:
        if kind.name in file.words and file.tree is not None:
            for one in ast.walk(file.tree):
                name = one.id if isinstance(one, ast.Name) else one.attr if isinstance(one, ast.Attribute) else ""
                text = one.value if isinstance(one, ast.Constant) and isinstance(one.value, str) else ""
                if (name == kind.name or kind.name == text) and id(one) not in inside:
                    return True
    return False


def _defined(kind: ast.ClassDef, project: Project) -> Step:
    file = next(shown for shown, one in project.classes[kind.name] if one is kind)
    return step(project.by_path[file], kind, f"{kind.name} is defined here and never made")

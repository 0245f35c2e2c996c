"""Where a project wraps a model in DDP or FSDP, and the class that is wrapped. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project, per_project
from diagnostics.static.program.source_file import SourceFile

DDP, FSDP, FULLY_SHARD = "DDP", "FSDP", "fully_shard"
WRAPPERS = {
    "torch.nn.parallel.DistributedDataParallel": DDP,
    "torch.distributed.fsdp.FullyShardedDataParallel": FSDP,
    "torch.distributed.fsdp.fully_shard": FULLY_SHARD,
}
WORDS = ("DistributedDataParallel", "DDP", "FullyShardedDataParallel", "FSDP", "fully_shard")
_WORDS = frozenset(WORDS)


@dataclass(frozen=True, slots=True)
class WrapSite:
    """One call that wraps a model."""

    call: ast.Call
    function: Function
    kind: str
    model: ast.expr

    @property
    def knows_options(self) -> bool:
        """Whether all of its keyword arguments stand in the call."""
        return all(one.arg is not None for one in self.call.keywords)

    def option(self, name: str) -> ast.expr | None:
        """Returns a keyword argument."""
        return next((one.value for one in self.call.keywords if one.arg == name), None)

    def has(self, name: str) -> bool:
        """Whether an option is a plain True."""
        value = self.option(name)
        return isinstance(value, ast.Constant) and value.value is True

    def may_have(self, name: str) -> bool:
        """Whether an option may be on: anything but absent or a plain False."""
        value = self.option(name)
        return not self.knows_options or not (value is None or (isinstance(value, ast.Constant) and not value.value))


def wraps_in(file: SourceFile, project: Project) -> tuple[WrapSite, ...]:
    """Returns the calls in a file that wrap a model."""
    known = _known(project)
    shown = str(file.path)
    if shown not in known:
        known[shown] = tuple(_wraps(file, project)) if project.by_path[shown].words & _WORDS else ()
    return known[shown]


@per_project
def _known(project: Project) -> dict[str, tuple[WrapSite, ...]]:
    return {}


def _wraps(file: SourceFile, project: Project) -> Iterator[WrapSite]:
    for call, function in project.calls_in(file):
        kind = WRAPPERS.get(project.name(call.func, function))
        model = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "module"), None)
        if kind is not None and model is not None and not isinstance(model, ast.Starred):
            yield WrapSite(call, function, kind, model)


def class_wrapped(wrap: WrapSite, project: Project) -> ast.ClassDef | None:
    """Returns the project's class that is wrapped, None where it may be several or is a library's."""
    found = {id(one): one for one in project.kinds(wrap.model, wrap.function)}
    return next(iter(found.values())) if len(found) == 1 else None


def bound_to(wrap: WrapSite) -> str:
    """Returns the text of what the wrapped model is assigned to: "model", "self.model", "" where to nothing."""
    for node in wrap.function.nodes_of(ast.Assign):
        if isinstance(node, ast.Assign) and any(one is wrap.call for one in walk(node.value)):
            return ast.unparse(node.targets[0])
    return ""

"""The data loaders of a project: what they load, with how many workers, and how those are started. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.torch_code.module_classes import ModuleClass, class_tree

LOADER = "torch.utils.data.DataLoader"


@dataclass(frozen=True, slots=True, eq=False)
class LoaderWorkers:
    """One construction of a loader. `workers`: "none", "some", or "unknown" where a variable says it."""

    call: ast.Call
    function: Function
    words: dict[str, ast.expr]

    @property
    def dataset(self) -> ast.expr | None:
        """What it loads."""
        return self.call.args[0] if self.call.args else self.words.get("dataset")

    @property
    def workers(self) -> str:
        """Whether it has workers; a loader that says how to start them has some."""
        value = self.words.get("num_workers", self.call.args[5] if len(self.call.args) > 5 else None)
        if isinstance(value, ast.IfExp):
            value = value.body if not _is_zero(value.body) else value.orelse
        if self.context:
            return "some"
        if value is None:
            return "unknown" if any(one.arg is None for one in self.call.keywords) else "none"
        if isinstance(value, ast.Constant) and isinstance(value.value, int):
            return "some" if value.value else "none"
        return "unknown"

    @property
    def context(self) -> str:
        """How workers are started, "" where it does not say."""
        value = self.words.get("multiprocessing_context")
        if isinstance(value, ast.IfExp):
            value = value.body if isinstance(value.body, ast.Constant) and value.body.value else value.orelse
        if isinstance(value, ast.Call) and last_name(value.func) == "get_context" and value.args:
            value = value.args[0]
        return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""


@lru_cache(maxsize=2)
def loaders(project: Project) -> tuple[LoaderWorkers, ...]:
    """Returns every loader that a project makes."""
    found = []
    for file in project.python:
        if "DataLoader" in file.words:
            for call, function in project.calls_in(file):
                if last_name(call.func) == "DataLoader" and project.name(call.func, function) == LOADER:
                    words = {one.arg: one.value for one in call.keywords if one.arg is not None}
                    words |= _known_count(words, function, project)
                    found.append(LoaderWorkers(call, function, words))
    return tuple(found)


def _known_count(words: dict[str, ast.expr], function: Function, project: Project) -> dict[str, ast.expr]:
    """Returns the number of workers as it is written elsewhere: in a configuration, as a default."""
    value = words.get("num_workers")
    named = isinstance(value, (ast.Name, ast.Attribute))
    found = [one for one, _ in origins(value, function, project)] if named and value is not None else []
    known = [one for one in found if isinstance(one, ast.Constant)]
    return {"num_workers": max(known, key=lambda one: bool(one.value))} if known and len(known) == len(found) else {}


def loaders_of(known: ModuleClass, project: Project) -> Iterator[LoaderWorkers]:
    """Yields the loaders that load objects of a class, or of one that derives from it."""
    tree = class_tree(project)
    for loader in loaders(project):
        for made in made_by(loader, project):
            if made.syntax is known.syntax or any(one.syntax is known.syntax for one in tree.bases(made)):
                yield loader
                break


def made_by(loader: LoaderWorkers, project: Project) -> Iterator[ModuleClass]:
    """Yields the project's classes of what a loader loads."""
    tree = class_tree(project)
    for kind in project.kinds(loader.dataset, loader.function) if loader.dataset is not None else ():
        known = tree.by_syntax.get(id(kind))
        if known is not None:
            yield known


def workers_over(known: ModuleClass, project: Project) -> tuple[str, LoaderWorkers | None]:
    """Returns the most that the loaders of a class say: "some", "unknown", "none", or "" without any loader."""
    best: tuple[str, LoaderWorkers | None] = ("", None)
    for loader in loaders_of(known, project):
        if ("", "none", "unknown", "some").index(loader.workers) > ("", "none", "unknown", "some").index(best[0]):
            best = (loader.workers, loader)
    return best


def _is_zero(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and not value.value

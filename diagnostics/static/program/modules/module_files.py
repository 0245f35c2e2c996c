"""Which file of a project the name of a module means, and which name a file has as a module. Pure."""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from pathlib import PurePath
from typing import Protocol

_LIBRARIES = frozenset(["torch", "numpy", "yaml", "wandb", "accelerate", "lightning", "transformers", "datasets"])


class Shown(Protocol):
    """A file, by the path that is shown for it."""

    shown: str


class ModuleFiles:
    """Answers for the files of a project that hold Python."""

    @property
    def modules(self) -> Sequence[Shown]:
        """The files that can be imported."""
        raise NotImplementedError

    @cached_property
    def file_of_module(self) -> dict[str, str]:
        """The path shown by full module name; of several files with one name the first."""
        return {module: several[0] for module, several in self._files_of_module.items()}

    @cached_property
    def _files_of_module(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for one in self.modules:
            found[self.dotted_of(one.shown)].append(one.shown)
        return dict(found)

    def dotted_of(self, file: str) -> str:
        """Returns a file's module name: from the topmost folder that is a package on."""
        return self._dotted[file]

    @cached_property
    def _dotted(self) -> dict[str, str]:
        shown = [PurePath(one.shown) for one in self.modules]
        packages = {str(path.parent) for path in shown if path.name == "__init__.py"}
        found = {}
        for one, path in zip(self.modules, shown, strict=True):
            parts = [] if path.name == "__init__.py" else [path.stem]
            folder = path.parent
            while folder.name and str(folder) in packages:
                parts.append(folder.name)
                folder = folder.parent
            found[one.shown] = ".".join(reversed([part for part in parts if part])) or path.stem
        return found

    @cached_property
    def _by_tail(self) -> dict[str, list[str]]:
        """Paths by the last part of the module they are."""
        found: dict[str, list[str]] = defaultdict(list)
        for one in self.modules:
            path = PurePath(one.shown)
            found[path.parent.name if path.name == "__init__.py" else path.stem].append(one.shown)
        return found

    def _home(self, file: str, node: ast.ImportFrom) -> str:
        """Returns the full name of the module that `from ... import` in a file is about."""
        if not node.level:
            return node.module or ""
        package = self.dotted_of(file).split(".")
        if PurePath(file).name != "__init__.py":
            package = package[:-1]
        package = package[: len(package) - (node.level - 1)]
        return ".".join([*package, *([node.module] if node.module else [])])

    def _module(self, file: str, module: str) -> str:
        """Returns the file that an absolute import of `module` in `file` means, "" where it is not the project's."""
        tail = module.split(".")
        fit = []
        for shown in self._by_tail.get(tail[-1], ()):
            parts = _module_parts(shown)
            if list(parts[-len(tail) :]) == tail:
                fit.append((shown, parts[: len(parts) - len(tail)]))
        here = PurePath(file).parent.parts
        above = [(len(root), shown) for shown, root in fit if here[: len(root)] == root]
        if above:
            return max(above)[1]
        foreign = tail[0] in sys.stdlib_module_names or tail[0] in _LIBRARIES
        return fit[0][0] if len(fit) == 1 and not foreign else ""

    def _file_of(self, file: str, module: str) -> str:
        """Returns the file that a module is: of several of one name the nearest above, where Python looks first."""
        several = self._files_of_module.get(module, ())
        here, tail = PurePath(file).parts[:-1], len(module.split("."))
        roots = [(_module_parts(one)[:-tail], one) for one in several]
        above = [(len(root), one) for root, one in roots if here[: len(root)] == root]
        if above or not module:
            return max(above)[1] if above else ""
        return self._module(file, module) or (several[0] if several else "")


def _module_parts(shown: str) -> tuple[str, ...]:
    parts = PurePath(shown).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts

"""Which names a file binds by importing what is none of the project's: `import torch as th`. Pure."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath

from diagnostics.static.program.source_file import SourceFile


@dataclass(eq=False)
class ForeignNames:
    """Answers for the files of a project, by the path shown."""

    files: Mapping[str, SourceFile]
    stars: Callable[[str], Mapping[str, str]] | None = None  # what star imports of a file bind, with their full names
    _homes: dict[str, dict[str, str]] = field(default_factory=dict)

    def holds(self, name: str, file: str) -> bool:
        """Whether a file imports a name from a package that is none of the project's files and folders."""
        home = self._homes_of(file).get(name, "")
        return bool(home) and home not in self._own

    def _homes_of(self, file: str) -> dict[str, str]:
        """Returns the top-level package that each imported name comes from; relative imports have none."""
        if file not in self._homes:
            found: dict[str, str] = {}
            for node in self.files[file].all_statements:
                if isinstance(node, ast.Import):
                    for alias in node.names:
                        root = alias.name.partition(".")[0]
                        found[alias.asname or root] = root
                elif isinstance(node, ast.ImportFrom) and not node.level:
                    for alias in node.names:
                        found[alias.asname or alias.name] = (node.module or "").partition(".")[0]
            for name, full in self.stars(file).items() if self.stars is not None else ():
                found[name] = full.partition(".")[0]
            self._homes[file] = found
        return self._homes[file]

    @cached_property
    def _own(self) -> frozenset[str]:
        return frozenset(part.removesuffix(".py") for name in self.files for part in PurePath(name).parts)

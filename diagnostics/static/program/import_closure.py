"""Which files run together: a script with all that it imports, and the scripts that a module takes part in. Pure."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

MOST_SCRIPTS = 12  # that one module is looked at with


class ImportClosures:
    """The programs of a project."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._imports: dict[str, frozenset[str]] = {}
        self._closures: dict[str, frozenset[str]] = {}
        self._around: dict[str, frozenset[str]] = {}
        self._words: dict[str, frozenset[str]] = {}
        self._importers: dict[str, list[str]] | None = None

    def closure(self, file: str) -> frozenset[str]:
        """Returns a file and all that it imports, also indirectly."""
        if file not in self._closures:
            self._closures[file] = frozenset(_reached(file, self._imported_by))
        return self._closures[file]

    def scripts_of(self, file: str) -> tuple[str, ...]:
        """Returns the scripts that a file takes part in; itself where it is one."""
        importers = self._imported_in()
        users = _reached(file, lambda one: frozenset(importers.get(one, ())))
        return tuple(one for one in users if is_script(self._project.by_path[one]))[:MOST_SCRIPTS]

    def around(self, file: str) -> frozenset[str]:
        """Returns the files that may run in one program with a file: its scripts, and all that those import."""
        if file not in self._around:
            found = set(self.closure(file))
            for script in self.scripts_of(file):
                found |= self.closure(script)
            self._around[file] = frozenset(found)
        return self._around[file]

    def calls(self, file: str, *names: str) -> Iterator[tuple[ast.Call, Function]]:
        """Yields the calls of these full names in the programs that a file takes part in."""
        around = self.around(file)
        for name in names:
            for call, function in self._project.calls_by_canonical.get(name, ()):
                if function.file in around:
                    yield call, function

    def words(self, file: str) -> frozenset[str]:
        """Returns every word in the programs that a file takes part in."""
        if file not in self._words:
            self._words[file] = frozenset().union(*(self._project.by_path[one].words for one in self.around(file)))
        return self._words[file]

    def _imported_by(self, file: str) -> frozenset[str]:
        if file not in self._imports:
            targets = (self._project.imported(name, file)[0] for name in self._project.bound(file))
            stars = (star.file for star in self._project.star_imports.stars.get(file, ()))
            self._imports[file] = frozenset(one for one in (*targets, *stars) if one in self._project.files)
        return self._imports[file]

    def _imported_in(self) -> dict[str, list[str]]:
        if self._importers is None:
            self._importers = defaultdict(list)
            for file in self._project.files:
                for target in self._imported_by(file):
                    self._importers[target].append(file)
        return self._importers


def is_script(file: ProjectFile) -> bool:
    """Whether a file is there to be run: it has a main guard, or calls something at its top level on its own."""
    body = file.tree.body if file.tree is not None else []
    return any(is_main_guard(one) or _runs(one) for one in body)


def is_main_guard(node: ast.AST) -> bool:
    """Whether a statement is `if __name__ == "__main__":`."""
    return isinstance(node, ast.If) and any(
        isinstance(one, ast.Name) and one.id == "__name__" for one in walk(node.test)
    )


def _runs(node: ast.stmt) -> bool:
    """Whether a statement at the top level trains, or starts what does."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return False
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _is_called_main(node.value):
        return True
    names = {one.func.attr for one in walk(node) if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute)}
    return bool(names & {"init_process_group", "backward", "spawn"})


def _is_called_main(call: ast.Call) -> bool:
    """Whether a call starts the program by its name: `main()`, `sys.exit(main(argv))`, `fire.Fire(main)`."""
    inner = [one.func if isinstance(one, ast.Call) else one for one in (call, *call.args[:1])]
    return any(isinstance(one, ast.Name) and one.id in ("main", "_main") for one in inner)


def _reached(start: str, next_of: Callable[[str], Iterable[str]]) -> dict[str, None]:
    found: dict[str, None] = {start: None}
    waiting = [start]
    while waiting:
        for one in next_of(waiting.pop()):
            if one not in found:
                found[one] = None
                waiting.append(one)
    return found

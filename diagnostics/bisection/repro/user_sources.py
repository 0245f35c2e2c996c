"""The sources of the user's own modules, read when asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from diagnostics.adapter.answers import read_json
from diagnostics.bisection.case import Source
from diagnostics.bisection.trial import ModuleNode
from diagnostics.static.slicing.module_statements import ModuleText
from diagnostics.static.slicing.source_closure import Own

_NEVER = frozenset({"torch"}) | sys.stdlib_module_names
_LIBRARIES = ("/site-packages/", "/dist-packages/")


class UserSources(Mapping[str, ModuleText]):
    """Modules below some folders, as Python would find them; those named beforehand come first."""

    def __init__(self, folders: Sequence[Path], named: Mapping[str, Path]) -> None:
        self._folders, self._named = folders, named
        self._known: dict[str, ModuleText | None] = {}

    def __getitem__(self, name: str) -> ModuleText:
        found = self._find(name)
        if found is None:
            raise KeyError(name)
        return found

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find(name) is not None

    def __iter__(self) -> Iterator[str]:
        return (name for name, text in self._known.items() if text is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def folders(self) -> Sequence[Path]:
        """Where modules are looked for."""
        return self._folders

    def own(self, name: str) -> Own | None:
        """Returns the thing of the top level in "package.module:Name.inner" or "package.module.Name#2"."""
        dotted = name.partition("#")[0].replace(":", ".").split(".")
        for length in range(len(dotted) - 1, 0, -1):
            module = ".".join(dotted[:length])
            found = self._find(module)
            if found is not None and (found.path or length > 1):
                return Own(module, dotted[length])
        return None

    def _find(self, name: str) -> ModuleText | None:
        if name not in self._known:
            self._known[name] = self._read(name)
        return self._known[name]

    def _read(self, name: str) -> ModuleText | None:
        if name in self._named:
            return _text(name, self._named[name], package=False)
        parts = name.split(".")
        if parts[0] in _NEVER or not all(part.isidentifier() for part in parts):
            return None
        for folder in self._folders:
            place = folder.joinpath(*parts)
            for file, package in ((place / "__init__.py", True), (place.with_name(f"{parts[-1]}.py"), False)):
                if file.is_file():
                    return _text(name, file, package=package)
        spaces = [folder.joinpath(*parts) for folder in self._folders]
        if any(place.is_dir() and next(place.glob("**/*.py"), None) for place in spaces):
            return ModuleText(name=name, text="", package=True)
        return None


def _text(name: str, file: Path, *, package: bool) -> ModuleText | None:
    try:
        return ModuleText(name=name, text=file.read_text(encoding="utf-8"), package=package, path=str(file))
    except (OSError, UnicodeDecodeError):
        return None


def user_sources(source: Source, nodes: Iterable[ModuleNode], cwd: Path, search_path: Sequence[str]) -> UserSources:
    """Returns the sources that a model's code may lie in: beside its factory, and where its classes are written."""
    folders: dict[Path, None] = {}
    named: dict[str, Path] = {}
    for spec in filter(None, (source.factory, source.inputs)):
        where = spec.rpartition(":")[0]
        if where.endswith(".py"):
            file = cwd / where
            folders[file.parent.absolute()] = None
            named[file.stem] = file.absolute()
    if source.capture:
        script, search_path = _captured(cwd / source.capture, search_path)
        named |= dict.fromkeys(("__main__", "__mp_main__"), script)
        folders[script.parent] = None
    folders[cwd] = None
    folders |= dict.fromkeys(Path(entry).absolute() for entry in search_path if entry)
    for node in nodes:
        folders |= dict.fromkeys(_root_of(node, cwd))
    kept = [folder for folder in folders if not any(word in f"{folder}{os.sep}" for word in _LIBRARIES)]
    return UserSources(kept, named)


def _captured(folder: Path, search_path: Sequence[str]) -> tuple[Path, Sequence[str]]:
    """Returns the script that a capture was made of, and where it found its modules."""
    facts = read_json(folder / "capture.json") or {}
    return Path(facts.get("script", "__main__.py")), [*facts.get("search_path", ()), *search_path]


def _root_of(node: ModuleNode, cwd: Path) -> Iterator[Path]:
    """Yields the folder that the module of a class was imported from: "/x" for a.b.Block in /x/a/b.py."""
    file = (cwd / node.place.rpartition(":")[0]).absolute()
    if not node.place or not file.name.endswith(".py"):
        return
    parts = list(file.with_suffix("").parts)
    if parts[-1] == "__init__":
        parts.pop()
    dotted = node.built_as.partition("#")[0].split(".")
    for length in range(len(dotted) - 1, 0, -1):
        if parts[-length:] == dotted[:length]:
            yield Path(*parts[:-length])
            return

"""Which versions of a library a project asks for: lists of requirements, environments, images, `pip install`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

Version = tuple[int, ...]

# The names under which one library is installed, by that of its package; images carry their version as a tag.
_NAMES = {
    "torch": r"torch|pytorch",
    "lightning": r"pytorch[-_]lightning|lightning",
}
_LISTS = frozenset([FileKind.REQUIREMENTS, FileKind.YAML, FileKind.DOCKERFILE, FileKind.SHELL])
_LATEST = 9999  # of `<= 1.13`, the last of 1.13


@dataclass(eq=False)
class DeclaredVersions:
    """What is asked for, by library."""

    project: Project
    _known: dict[str, dict[PurePosixPath, tuple[Version, ...]]] = field(default_factory=dict)

    def is_older(self, library: str, than: Version, *, of: str) -> bool:
        """Whether every place that names a version of a library keeps it below one; False where none does.

        Of a file, the folder counts that is nearest to it and names any: a repository may hold programs of many years,
        each with requirements or a Dockerfile of its own. Where no folder above it does, all places of the project do.
        """
        if library not in self._known:
            self._known[library] = self._by_folder(library)
        known = self._known[library]
        nearest = next((known[one] for one in PurePosixPath(of).parents if one in known), None)
        asked = nearest or tuple(newest for several in known.values() for newest in several)
        return bool(asked) and all(newest < than for newest in asked)

    def _by_folder(self, library: str) -> dict[PurePosixPath, tuple[Version, ...]]:
        found: dict[PurePosixPath, tuple[Version, ...]] = {}
        for one in self.project.audited:
            newest = tuple(_newest(one, library)) if one.kind in _LISTS else ()
            if newest:
                folder = PurePosixPath(one.shown).parent
                found[folder] = (*found.get(folder, ()), *newest)
        return found


def _newest(file: ProjectFile, library: str) -> Iterator[Version]:
    """Yields the newest version that each line of a file lets in."""
    if not any(word in file.text for word in ("torch", "lightning")):
        return
    pattern = re.compile(
        rf"(?:^|[\s\"'=:/-])(?:{_NAMES[library]})(?:\[[\w,-]*\])?\s*"
        r"(?P<said>(?:(?:[=~!<>]=|===?|[=<>]|(?<=/pytorch):)\s*v?\d[\w.*+-]*\s*,?\s*)+)"
    )
    for line in file.lines:
        if "torch" not in line and "lightning" not in line:
            continue
        text = line.partition(" #")[0]
        if text.lstrip().startswith("#"):
            continue
        for found in pattern.finditer(text):
            yield _upper(found["said"])


def _upper(said: str) -> Version:
    """Returns the newest version that conditions let in: of `>=1.8,<2` one just below 2."""
    bounds: list[Version] = []
    for sign, number in re.findall(r"([=~!<>]=|={1,3}|[<>:])\s*v?(\d+(?:\.\d+)*)", said):
        version = tuple(int(part) for part in number.split("."))
        if sign in ("==", "===", "=", ":"):
            bounds.append((*version, _LATEST) if len(version) < 3 else version)
        elif sign == "<=":
            bounds.append((*version, _LATEST))
        elif sign == "<":
            bounds.append((*version[:-1], version[-1] - 1, _LATEST))
        elif sign == "~=":
            bounds.append((*version[:-1], _LATEST))
    return min(bounds, default=(_LATEST,))

"""Which versions of a library a project asks for: lists of requirements, environments, images, `pip install`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

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
    _known: dict[str, tuple[Version, ...]] = field(default_factory=dict)

    def is_older(self, library: str, than: Version) -> bool:
        """Whether every place that names a version of a library keeps it below one; False where none does."""
        if library not in self._known:
            files = [one for one in self.project.audited if one.kind in _LISTS]
            self._known[library] = tuple(found for one in files for found in _newest(one, library))
        known = self._known[library]
        return bool(known) and all(newest < than for newest in known)


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

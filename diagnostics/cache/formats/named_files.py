"""Files that an index names: what may be looked at, and what is there. Names come from a file and are not trusted."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable

from diagnostics.cache.file_scan import Problem, shown_names

MEANINGS = {
    "missing-file": "name files that are not there",
    "unsafe-path": "name files outside their own folder",
}
REMEDIES = {
    "missing-file": "copy the missing files again, or go back to a checkpoint that is whole",
    "unsafe-path": "do not load them unless you know who wrote them: the paths lead out of the folder",
}


def leads_out(name: str) -> bool:
    """Whether a name in an index leads out of the index's folder, or is no name of a file at all."""
    parts = name.replace("\\", "/").split("/")
    windows_drive = len(name) > 1 and name[1] == ":"
    return not name or name[0] in "/\\" or ".." in parts or windows_drive or "\0" in name


def size_of(folder: str, name: str) -> int | None:
    """Returns the size in bytes of a regular file that does not lead out, None where there is none."""
    if leads_out(name):
        return None
    try:
        status = os.stat(f"{folder or '.'}/{name}")  # noqa: PTH116 - an index may name 100,000
    except (OSError, ValueError):
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def path_problems(names: Iterable[str], sizes: dict[str, int | None], place: str) -> list[Problem]:
    """Returns one problem for the files that lead out, and one for those that are not there."""
    out = [name for name in names if leads_out(name)]
    gone = [name for name in names if sizes.get(name) is None and not leads_out(name)]
    problems = []
    if out:
        observed = f"{len(out)} of {len(sizes)} paths lead out of the folder: {shown_names(out)}; none was opened"
        problems.append(
            Problem(name="unsafe-path", observed=observed, expected="names of files beside it", place=place)
        )
    if gone:
        observed = f"{len(gone)} of {len(sizes)} files not there: {shown_names(gone)}"
        problems.append(
            Problem(name="missing-file", observed=observed, expected="every file that it names", place=place)
        )
    return problems

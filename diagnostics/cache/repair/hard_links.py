"""Several names of one file (hard links): repaired once, and one file still."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from diagnostics.cache.repair.actions import REWRITING, FilePlan
from diagnostics.cache.repair.temporaries import temporary_name


def joined(files: Iterable[FilePlan]) -> list[FilePlan]:
    """Returns the plans with one for each file that is rewritten, whatever number of its names was found."""
    names: dict[tuple[int, int], list[FilePlan]] = {}
    found: list[FilePlan] = []
    for file in files:
        same = names.setdefault((file.identity.device, file.identity.inode), []) if _is_linked(file) else []
        if not same:
            found.append(file)
        same.append(file)
    return [_with_all(file, names[file.identity.device, file.identity.inode]) if _is_linked(file) else file
            for file in found]  # fmt: skip


def _is_linked(file: FilePlan) -> bool:
    return file.action in REWRITING and file.links > 1


def _with_all(file: FilePlan, same: Sequence[FilePlan]) -> FilePlan:
    also = tuple(one.real for one in same if one is not file)
    outside = file.links - len(same)
    notes = []
    if also:
        notes.append(f"{_others(len(also))} here become{'s' * (len(also) == 1)} the repaired file, too")
    if outside > 0:
        where = "elsewhere " if also else ""
        notes.append(f"{_others(outside)} {where}keep{'s' * (outside == 1)} the old content")
    stays = file.written if outside > 0 else max(file.written - file.identity.size, 0)
    return replace(file, also=also, note="; ".join(notes), grows=stays)


def _others(number: int) -> str:
    return "its other name (a hard link)" if number == 1 else f"its {number:,} other names (hard links)"


def linked(temporary: Path, names: Sequence[str]) -> tuple[list[tuple[Path, str]], list[str]]:
    """Gives the whole copy a temporary name beside each of `names`; returns these pairs, and what could not be done."""
    pairs: list[tuple[Path, str]] = []
    notes = []
    for name in names:
        beside = temporary_name(Path(name))
        try:
            os.link(temporary, beside)
        except OSError as error:
            notes.append(f"its other name {name} keeps the old content: {error.strerror or error}")
        else:
            pairs.append((beside, name))
    return pairs, notes


def renamed(pairs: Sequence[tuple[Path, str]], old: os.stat_result) -> list[str]:
    """Renames the pairs where the name still leads to the `old` file; returns what was left, in words for people."""
    notes = []
    for beside, name in pairs:
        try:
            if os.path.samestat(os.lstat(name), old):
                beside.replace(name)
            else:
                notes.append(f"its other name {name} leads to another file by now and is left")
        except OSError as error:
            notes.append(f"its other name {name} keeps the old content: {error.strerror or error}")
    forget(pairs)
    return notes


def forget(pairs: Sequence[tuple[Path, str]]) -> None:
    """Removes the temporary names that are left."""
    for beside, _ in pairs:
        with suppress(OSError):  # a later run removes it
            beside.unlink(missing_ok=True)

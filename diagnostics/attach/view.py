"""What was seen of a running job, as JSON and for a screen."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from diagnostics.attach.look import JobSnapshot
from diagnostics.attach.stack_tree_text import TextTree, place_in_words
from diagnostics.core import redaction
from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import ProcessRole
from diagnostics.dynamic.stall.stack_prefix_tree import ProcessStack, groups, missing_ranks, names

SCHEMA = 1
_MOST_BYTES = 1 << 20
_LONGEST = 100


def world_size_of(looked: JobSnapshot) -> int | None:
    """Returns how many ranks there should be, None where nothing tells."""
    ranks = {one.pid for one in looked.standings if one.part is ProcessRole.RANK and one.rank is not None}
    said = [row.variables.get("WORLD_SIZE", "") for row in looked.job.members if row.pid in ranks]
    sizes = [int(size) for size in said if size.isdigit() and len(size) < 7]
    return max(sizes, default=None) or (len(ranks) or None)


def folder_of(looked: JobSnapshot) -> str:
    """Returns the job's working directory: that of its first rank."""
    ranks = [one.pid for one in looked.standings if one.part is ProcessRole.RANK]
    rows = sorted(looked.job.members, key=lambda row: row.pid not in ranks)
    return next((row.cwd for row in rows if row.cwd), "")


def screen_of(looked: JobSnapshot, *, width: int, colour: bool, verbose: bool = False) -> TextTree:
    """Returns how to print it, with the source lines of the job's own frames."""
    texts = source_lines(looked.standings, folder_of(looked))
    return TextTree(cwd=folder_of(looked), width=width, colour=colour, verbose=verbose, texts=texts)


def source_lines(standings: tuple[ProcessStack, ...], cwd: str) -> dict[Frame, str]:
    """Returns the source line of each frame of the job's own files, as the process sees the file."""
    files: dict[tuple[int, str], list[str]] = {}
    found: dict[Frame, str] = {}
    for one in standings:
        for frame in one.place.user:
            if frame in found:
                continue
            key = (one.pid, frame.file)
            if key not in files:
                files[key] = _lines(one.pid, os.path.join(cwd, frame.file))  # noqa: PTH118 - one may be absolute
            if 0 < frame.line <= len(files[key]):
                found[frame] = redaction.line(files[key][frame.line - 1].strip())[:_LONGEST]
    return found


def as_json(looked: JobSnapshot) -> dict[str, Any]:
    """Returns everything that was seen, secrets hidden."""
    cwd, size = folder_of(looked), world_size_of(looked)
    ranks = [one for one in looked.standings if one.part is ProcessRole.RANK]
    return {
        "schema": SCHEMA,
        "kind": "stacks",
        "cwd": cwd,
        "seconds": round(looked.seconds, 3),
        "world_size": size,
        "ranks_not_here": list(missing_ranks(ranks, size)),
        "groups": [_group(group, cwd) for group in groups(ranks)],
        "processes": [_process(one, looked, cwd) for one in looked.standings],
        "missing": [asdict(one) for one in looked.missing],
    }


def _group(group: tuple[ProcessStack, ...], cwd: str) -> Mapping[str, Any]:
    one = group[0]
    return {
        "who": names(group),
        "pids": [each.pid for each in group],
        "ranks": [each.rank for each in group if each.rank is not None],
        "where": redaction.line(place_in_words(one, cwd, {})),
        "motion": str(one.moved.motion),
    }


def _process(one: ProcessStack, looked: JobSnapshot, cwd: str) -> Mapping[str, Any]:
    by_pid = {each.pid: each for each in looked.standings}
    owner = by_pid.get(one.owner) if one.owner is not None else None
    return {
        "pid": one.pid,
        "parent_pid": one.parent_pid,
        "part": str(one.part),
        "rank": one.rank,
        "of_rank": owner.rank if owner is not None else None,
        "argv": list(one.argv),
        "doing": str(one.place.doing),
        "op": one.place.op,
        "where": redaction.line(place_in_words(one, cwd, {})),
        **asdict(one.moved),
        "frames": [asdict(frame) for frame in one.frames],
        "locals": list(one.values),
        "threads": [
            {
                "native_id": thread.native_id,
                "name": redaction.line(thread.name),
                "frames": [{"file": f.file, "line": f.line, "function": f.function} for f in thread.frames],
            }
            for thread in looked.threads.get(one.pid, ())
        ],
        "problem": one.problem,
    }


def _lines(pid: int, path: str) -> list[str]:
    """Returns a file's lines as process `pid` sees it, also in a container, without secrets."""
    if not path.endswith(".py"):
        return []
    file = Path(f"/proc/{pid}/root") / path.lstrip("/")
    try:
        if not file.is_file() or file.stat().st_size > _MOST_BYTES:
            return []
        text = file.read_text(encoding="utf-8", errors="replace")
        return list(redaction.source_lines("\n".join(text.splitlines()), python=True))
    except OSError:
        return []

"""The leaderboard: one line a result, and beside it the best checkpoint of each problem."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import time
from pathlib import Path
from typing import Any

from ups.config import UpsConfig
from ups.errors import DataError, from_os_error
from ups.pipeline.state import digest_of
from ups.tracking.jsonl import read


def enter(
    config: UpsConfig, checkpoint: Path, numbers: dict[str, Any], stage: str, error: float
) -> tuple[str, tuple[Path, ...]]:
    """Adds an entry, once for one checkpoint, and promotes it where no other of the same problem is better.

    A problem is equation, parameter, grid, frames and test samples: other settings are another problem. Returns what
    came of it in one line, and the files.
    """
    board = config.pipeline.leaderboard
    entry = {
        "problem": problem_of(numbers),
        "name": config.name,
        "stage": stage,
        "nrmse": error,
        "rollout_nrmse": (numbers.get("rollout", {}).get(stage_row(stage)) or {}).get("nRMSE"),
        "checkpoint": str(checkpoint),
        "sha256": hashlib.sha256(checkpoint.read_bytes()).hexdigest(),
        "config": digest_of(config),
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    entries = _entries(board)
    others = [one for one in entries if one["problem"] == entry["problem"] and one["sha256"] != entry["sha256"]]
    promoted = board.parent / "promoted" / f"{_name(numbers)}.pt"
    best = min((float(one["nrmse"]) for one in others), default=math.inf)
    try:
        board.parent.mkdir(parents=True, exist_ok=True)
        if all(one["sha256"] != entry["sha256"] for one in entries):
            with board.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")
        if error < best:
            promoted.parent.mkdir(parents=True, exist_ok=True)
            temporary = promoted.with_name(promoted.name + ".tmp")
            shutil.copyfile(checkpoint, temporary)
            temporary.replace(promoted)
            place = f"the best of {len(others) + 1}, promoted to {promoted}"
            return f"nRMSE {error:.3g} of one step by {stage}: {place}", (board, promoted)
    except OSError as refused:
        raise from_os_error(refused, action="cannot write the leaderboard", path=board) from refused
    ahead = sum(float(one["nrmse"]) <= error for one in others)
    return (
        f"nRMSE {error:.3g} of one step by {stage}: {ahead} of {len(others)} others are better, the best {best:.3g}",
        (board,),
    )


def problem_of(numbers: dict[str, Any]) -> dict[str, Any]:
    """Returns what two results must share to be compared."""
    return {name: numbers.get(name) for name in ("task", "parameters", "grid", "frames", "split", "samples")}


def stage_row(stage: str) -> str:
    """Returns the row of a stage in an evaluation."""
    return "model" if stage == "operator" else stage


def _entries(board: Path) -> list[dict[str, Any]]:
    if not board.exists():
        return []
    found = [dict(one) for one in read(board)]
    wrong = [number for number, one in enumerate(found, start=1) if not {"problem", "nrmse", "sha256"} <= one.keys()]
    if wrong:
        raise DataError(f"{board}:{wrong[0]} is no entry of a leaderboard", hint="name another: pipeline.leaderboard")
    return found


def _name(numbers: dict[str, Any]) -> str:
    parameters = "-".join(f"{name}{value:g}" for name, value in numbers["parameters"].items())
    cells, frames = "x".join(map(str, numbers["grid"])), f"-{numbers['frames']}frames" if "frames" in numbers else ""
    return f"{numbers['task']}-{parameters}-{cells}{frames}-{numbers['samples']}samples"

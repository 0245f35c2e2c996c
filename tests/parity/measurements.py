"""Measurements of 2 ranks as children/parity gives them, healthy but for what a test changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from diagnostics.parity.measured import Measured

LINES = {"step": "/job/train.py:9", "backward": ["/job/train.py:7"], "clip": ["/job/train.py:8"]}


def weights(*values: float, residual: float = 0.0) -> dict[str, Any]:
    return {"weights": list(values), "residual": residual}


def row(row: str, largest: float = 0.5, *, step: int = 0, **where: Any) -> dict[str, Any]:
    """A row that differs from `step` on."""
    at = {"step": step, "rank": 0, "name": "layer.weight", "values": [2.0, 1.0], **where}
    return {"row": row, "largest": largest, "at": at, "first": {"difference": largest, **at}}


def same(name: str) -> dict[str, Any]:
    return {"row": name, "largest": 1e-16, "at": {"step": 0, "rank": 0, "name": "layer.weight"}, "first": None}


def of_step(**changes: Any) -> dict[str, Any]:
    """One step in which all agree, one backward pass on each of 2 ranks."""
    alike = [weights(0.5, 0.5), weights(0.5, 0.5)]
    return {
        "backwards": 1,
        "clips": [0, 0],
        "sizes": [4, 4],
        "counts": [{}, {}],
        "hyper": [[{"lr": 0.1}], [{"lr": 0.1}]],
        "hyper_of_one": [{"lr": 0.1}],
        "apart": [0.5, 0.5],
        "cut": False,
        "agree_before_clipping": [0.0, 0.0],
        "apart_before_clipping": [0.5, 0.5],
        "factors": {"factor": 0.7, "residual": 0.4, "by_parameter": {}},
        "applied_factors": {"factor": 0.7, "residual": 0.4},
        "shares": [[0, 0], [1, 0]],
        "ranks": alike,
        "applied": alike,
        "one": weights(0.5, 0.5),
        "alike": False,
        "by_parameter": {},
        "mean_of_clipped": 0.5,
        **changes,
    }


def measured(
    *steps: Mapping[str, Any], rows: Sequence[Mapping[str, Any]] = (), accumulate: int = 1, fed: bool = True, **raw: Any
) -> Measured:
    whole = {
        "world": 2,
        "steps": len(steps) or 1,
        "rows": list(rows) or [row("gradient")],
        "by_step": list(steps) or [of_step()],
        "lines": LINES,
        "facts": {"kinds": {"batch_norm": 1}},
        **raw,
    }
    return Measured(raw=whole, tolerance=1e-9, accumulate=accumulate, fed=fed)

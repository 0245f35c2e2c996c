"""What an experiment found, in words: the same sentences on the terminal and on the page. Pure."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path

from diagnostics.parity.engine import Parity
from diagnostics.parity.hypothesis import Explanation
from diagnostics.parity.measured import RANDOM_NUMBERS, Measured, Row

MISSING = 1e299  # what stands for a shape or a NaN that differs


def headline(found: Parity) -> str:
    """Returns the verdict in one sentence."""
    request, measured = found.request, found.measured
    if measured is None or found.undecided:
        return f"Undecided: {found.undecided}."
    if measured.same:
        return f"{request.nproc} ranks compute what one process computes: {_closest(found, measured)}."
    cause = found.causes[0] if found.causes else None
    said = f"{request.nproc} ranks do not compute what one process computes"
    return f"{said}: {cause.sentence}." if cause else f"{said}; why is unknown, here is where it begins."


def _closest(found: Parity, measured: Measured) -> str:
    largest = max((row.largest for row in measured.rows if row.name != RANDOM_NUMBERS), default=0.0)
    steps = f"{measured.steps} step{'s' * (measured.steps != 1)}"
    allowed = f"tolerance {measured.tolerance:.0e} in {precision(found)}"
    return f"largest relative difference {largest:.2g} in {steps}, {allowed}"


def precision(found: Parity) -> str:
    """Returns "float64", or "float32 under autocast"."""
    cast = bool(found.measured and found.precision and found.precision.tolerance > 1e-2)
    return f"{found.dtype} under autocast" if cast else found.dtype


def table(measured: Measured) -> Iterator[tuple[str, str, str, str]]:
    """Yields quantity, largest relative difference, where it is, and whether it is too large."""
    for row in measured.rows:
        if row.name == "samples" and measured.repeats:
            one = measured.repeats[0]
            yield row.name, f"{one.given - one.different} repeated", f"pass {one.number}", "differs"
        else:
            yield row.name, _amount(row), place(row.at), _state(row)


def _state(row: Row) -> str:
    if row.first is None:
        return "same"
    return "note" if row.name == RANDOM_NUMBERS else "differs"


def _amount(row: Row) -> str:
    if row.name in ("samples", RANDOM_NUMBERS):
        wrong = {"samples": "not the same", "random numbers": "the same on ranks"}[row.name]
        return wrong if row.largest else "none"
    return "shape or NaN" if row.largest >= MISSING else "0" if not row.largest else f"{row.largest:.1e}"


def place(at: object) -> str:
    """Returns "step 0, rank 1, layers.3.bias"."""
    if not isinstance(at, dict) or not at:
        return ""
    parts = [f"step {at['step']}"] if "step" in at else []
    parts += [f"rank {at['rank']}"] if "rank" in at else []
    parts += [str(at["name"])] if at.get("name") else []
    return ", ".join(parts)


def first_difference(measured: Measured) -> str:
    """Returns where it begins: step, quantity, module, parameter, rank, both values."""
    row = measured.first
    if row is None and measured.repeats:
        one = measured.repeats[0]
        return f"pass {one.number} over a loader: {one.given} samples on the ranks, {one.different} different ones"
    if measured.start_differs:
        start = measured.raw["start"]
        name, values = start["name"], start.get("values") or ("", "")
        return (
            f"before step 0: {name}{_module(name)}: {values[0]:.9g} on rank 0, {values[1]:.9g} on rank {start['rank']}"
        )
    if row is None or row.first is None:
        return ""
    at = row.first
    name = str(at.get("name") or "")
    named = f" of {name}{_module(name)}" if name else ""
    rank = f", rank {at['rank']}" if "rank" in at else ""
    values = "" if row.name in ("samples", "random numbers") else _values(at.get("values"))
    return f"step {at['step']}: {row.name}{named}{rank}{values}"


def _module(name: str) -> str:
    parent = name.rpartition(" ")[2].rpartition(".")[0]
    return f" (module {parent})" if parent else ""


def _values(values: object) -> str:
    if not isinstance(values, list) or len(values) != 2:
        return ""
    mine, theirs = (f"{one:.9g}" if isinstance(one, float) and math.isfinite(one) else str(one) for one in values)
    return f": {mine}, in one process {theirs}"


def line_of(explanation: Explanation) -> str:
    """Returns "train.py:12" relative to the current folder where it lies below it."""
    inside = f"{Path.cwd()}{os.sep}"
    return explanation.where.removeprefix(inside)


def source_of(explanation: Explanation) -> str:
    """Returns the text of the line, "" where it cannot be read."""
    path, _, number = explanation.where.rpartition(":")
    try:
        lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
        return lines[int(number) - 1].strip()
    except (OSError, ValueError, IndexError):  # told without its text
        return ""

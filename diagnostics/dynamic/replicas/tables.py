"""Samples of parameters and gradients by rank, as the proof of a finding."""

from __future__ import annotations

from collections.abc import Mapping

from diagnostics.core.findings import Evidence
from diagnostics.dynamic.replicas.replicas import Replicas
from diagnostics.record.parameter_prints import TensorPrint

MOST_RANKS = 8
COLUMNS = "by rank: checksum, root mean square, first number"


def value_table(found: Replicas, step: int, index: int, *, expected: str = "equal on all ranks") -> Evidence:
    """Returns one parameter before a step, by rank."""
    return Evidence(
        source=f"{found.model.names[index]} before step {step}, {COLUMNS}",
        observed=rows(found.values(step, index)),
        expected=expected,
    )


def gradient_table(found: Replicas, step: int, index: int, *, expected: str = "equal on all ranks") -> Evidence:
    """Returns the gradient of one parameter at a step, by rank."""
    return Evidence(
        source=f"gradient of {found.model.names[index]} at step {step}, {COLUMNS}",
        observed=rows(found.gradients(step, index)),
        expected=expected,
    )


def rows(prints: Mapping[int, TensorPrint]) -> str:
    """Returns a line a rank, of the first ranks."""
    shown = list(prints.items())[:MOST_RANKS]
    rest = [f"and {len(prints) - len(shown)} more"] if len(prints) > len(shown) else []
    return "\n".join([*(f"rank {rank}  {print_text(one)}" for rank, one in shown), *rest])


def print_text(one: TensorPrint) -> str:
    """Returns "b8a5a1c1  0.252693  -0.00374341"."""
    if not one.read:
        return "no gradient" if one.why == "none" else f"not read ({one.why})"
    numbers = [f"{number:.6g}" for number in (one.size, one.first) if number is not None]
    return "  ".join([f"{one.checksum & 0xFFFFFFFF:08x}", *numbers])

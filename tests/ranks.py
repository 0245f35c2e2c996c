"""Ranks that are forks of one process, for jobs in which no launcher is asked about; see forked_ranks/."""

from __future__ import annotations

from pathlib import Path

FORKED_RANKS = Path(__file__).with_name("forked_ranks")


def as_ranks(count: int, program: str) -> dict[str, str]:
    """Returns the variables with which `python PROGRAM` becomes so many ranks, whoever starts it."""
    return {"PYTHONPATH": str(FORKED_RANKS), "UPS_TEST_RANKS": f"{count} {program}"}

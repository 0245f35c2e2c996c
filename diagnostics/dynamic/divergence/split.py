"""Two camps of ranks, and the question where and why their ways parted. Plain values."""

from __future__ import annotations

from dataclasses import dataclass

from diagnostics.dynamic.collectives.rank_state import RankState
from diagnostics.dynamic.divergence.branch_relation import BranchRelation
from diagnostics.dynamic.divergence.divergence import DivergenceQuery


@dataclass(frozen=True, slots=True, kw_only=True)
class RankPartition:
    """Two camps of ranks of one deadlock. `sure` where evidence tells that those of `parting.here` are the odd ones."""

    parting: DivergenceQuery
    relation: BranchRelation
    here: tuple[RankState, ...]
    there: tuple[RankState, ...]
    sure: bool
    by_history: bool = False  # they broke with what they themselves had done before

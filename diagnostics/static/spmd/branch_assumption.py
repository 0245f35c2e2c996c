"""What is assumed of one decision while functions are followed, and what is kept of a function that was. Pure."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from diagnostics.static.dataflow.rank_predicates import ConcreteRank
from diagnostics.static.spmd.common_conditions import Facts
from diagnostics.static.spmd.sequence_values import CollectiveSequence


@dataclass(frozen=True)
class BranchAssumption:
    """One decision and how it falls; where it asks for the rank, `on` is the rank, for every other test as well."""

    decision: ast.AST
    value: bool
    on: ConcreteRank | None = None
    facts: Facts = frozenset()  # what the tests beside that for the rank come to, in the function followed


AskedFunction = tuple[int, int, ConcreteRank | None, Facts]  # its id, how much deeper to go, and what is known in it


@dataclass(frozen=True, slots=True)
class FollowedFunction:
    """A function that was followed to its end.

    It holds under every decision that stands in no function of `entered`, where as many statements as `cost` may
    still be followed: to follow it again would give the same.
    """

    sequence: CollectiveSequence
    cost: int
    entered: frozenset[int]  # ids of the functions it came to, its own with them

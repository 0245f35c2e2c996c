"""Whether two ranks ran other parts of one model: sub-networks, experts, stages that read the same on purpose. Pure."""

from __future__ import annotations

from collections.abc import Collection

from diagnostics.record.agent_data import AgentData


def take_other_ways(one: AgentData, other: AgentData) -> bool:
    """Whether two ranks sent what they read through other modules of one model.

    Passes are the same ones where they began after as many entries into modules. A rank that made passes of its own in
    between, to validate, is out of step with the other: then which pass is which is not known, and the ranks take other
    ways only where the lesser part of those of one are among the other's.
    """
    mine, theirs = _ways(one), _ways(other)
    both = mine.keys() & theirs.keys()
    if both and _between(mine, both) == _between(theirs, both):
        return any(mine[at] != theirs[at] and mine[at][0] == theirs[at][0] for at in both)
    roots = {root for root, _ in mine.values()} & {root for root, _ in theirs.values()}
    ways = [{way for root, way in each.values() if root in roots} for each in (mine, theirs)]
    return all(ways) and 2 * len(ways[0] & ways[1]) <= min(map(len, ways))


def _between(ways: dict[int, tuple[str, tuple[str, ...]]], both: Collection[int]) -> list[int]:
    return sorted(at for at in ways if min(both) <= at <= max(both))


def _ways(agent: AgentData) -> dict[int, tuple[str, tuple[str, ...]]]:
    """Returns the model and the modules of each forward pass by the number of its first entry, but the last one.

    A wrapper enters, and then what it wraps: an entry behind which the next pass begins at once is no pass.
    """
    ways: dict[int, tuple[str, list[str]]] = {}
    begun: int | None = None
    for entry in agent.entered:
        if entry.backward:
            continue
        if not entry.module.path:
            begun = entry.sequence
            ways[begun] = entry.module.root_class, []
        elif begun is not None:
            ways[begun][1].append(entry.module.path)
    if begun is not None:
        del ways[begun]  # it may have been under way
    return {at: (root, tuple(way)) for at, (root, way) in ways.items() if way}

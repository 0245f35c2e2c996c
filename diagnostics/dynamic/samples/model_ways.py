"""Whether two ranks ran other parts of one model: sub-networks, experts, stages that read the same on purpose. Pure."""

from __future__ import annotations

from diagnostics.record.agent_data import AgentData


def take_other_ways(one: AgentData, other: AgentData) -> bool:
    """Whether forward passes that began alike, so many modules into the job, entered other modules on two ranks.

    Where one rank made passes of its own in between, those that can be compared are of one model and alike.
    """
    mine, theirs = _ways(one), _ways(other)
    return any(root == theirs[at][0] and way != theirs[at][1] for at, (root, way) in mine.items() if at in theirs)


def _ways(agent: AgentData) -> dict[int, tuple[str, tuple[str, ...]]]:
    """Returns the model and the modules of each forward pass by the number of its first entry, but the last one."""
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
    return {at: (root, tuple(way)) for at, (root, way) in ways.items()}

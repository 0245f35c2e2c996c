"""How often torch.compile has compiled, and what it had to compile again after the first step of a stage."""

from __future__ import annotations

import sys


class Compilations:
    """Counts graphs from one step to the next; without torch.compile it counts nothing."""

    def __init__(self, compiles: bool) -> None:
        self._compiles = compiles
        self._seen: int | None = None  # graphs, after the step before
        self.again = 0  # graphs that were compiled after the first step

    def new(self) -> int:
        """Returns how many graphs the step that ended had to compile, 0 for the first step."""
        if not self._compiles:
            return 0
        now = graphs()
        before, self._seen = self._seen, now
        found = 0 if before is None else now - before
        self.again += found
        return found


def graphs() -> int:
    """Returns how many graphs this process has compiled."""
    utils = sys.modules.get("torch._dynamo.utils")
    return int(utils.counters["stats"]["unique_graphs"]) if utils is not None else 0

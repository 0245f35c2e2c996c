"""How often torch.compile has compiled, and what it had to compile again after the first step of a stage."""

from __future__ import annotations

import sys

SHAPES = 64  # graphs of one piece of code: batches and last batches, times the blocks of one class that differ in size


def allow_a_graph_for_each_shape() -> None:
    """Has torch compile a graph for each shape of batches, and none for any shape.

    By default the second shape makes it compile one for any, which then computes the first shape as well, in another
    order: after a resume that begins with other shapes the same batch would come to other bits. Beyond 8 graphs of
    one piece of code torch goes on uncompiled, without a word.
    """
    from torch._dynamo import config

    config.recompile_limit = max(config.recompile_limit, SHAPES)


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

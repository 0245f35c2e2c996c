"""Bounds what a job leaves that forks for ever: one child a sample, workers made anew in each epoch.

The first forks all have files. After KEPT of them, a child that ends well and had nothing to tell removes its own;
after MOST none is made. A fork counts for the children of the child, too.
"""

from __future__ import annotations

import os

KEPT, MOST = 200, 2000
_QUIET = {"os._exit", "exit", "hooks"}  # kinds of events that every child has


class Forks:
    """How many forks led to this process, its own among them."""

    def __init__(self):
        self.count = 0

    def before(self):
        """Runs in the parent."""
        self.count += 1

    def too_many(self):
        """Whether a child that has just been forked gets no file."""
        return self.count > MOST

    def tidy(self, agent, kinds):
        """At a good end: removes the files of a child that has nothing to tell; never raises."""
        file = agent.file
        if file is None or not file.is_forked or self.count <= KEPT or not _QUIET.issuperset(kinds) or file.has_torch:
            return
        folder, name = os.path.split(file.path)
        for path in (file.path, os.path.join(folder, "stacks-" + name[len("agent-") : -len(".bin")] + ".txt")):
            try:
                os.unlink(path)
            except OSError:
                pass  # it had none

"""Looks at what the program's objects hold, at a few steps of its first optimizer: 40, 80, 160 ..."""

from __future__ import annotations

import sys

from ..object_hooks import grown_containers, held_objects
from ..torch_hooks.wrapped_models import own_frames
from .part import Part, is_due

FIRST = 40


class ProgramObjects(Part):
    """One walk over them for all that is asked."""

    def forget(self):
        """Starts over."""
        self._containers = grown_containers.GrownContainers()

    def step(self, optimizer, followed):
        """Walks, where it is due."""
        if followed.index or not is_due(followed.count, FIRST):
            return
        frame, grown = sys._getframe(1), []
        for held in held_objects.held_by(frame):
            self._containers.look(held, followed.count, grown)
        for one in grown:
            self.marks.tell("container-grows", step=followed.count, at=own_frames(frame), **one)

"""Looks at what the program's objects hold, at a few steps of its first optimizer: 3, 40, 80, 160 ..."""

from __future__ import annotations

import sys

from ..object_hooks import grown_containers, held_objects, numbered_names
from ..torch_hooks.wrapped_models import own_frames
from .part import Part, is_due

NAMES_AT, FIRST = 3, 40


class ProgramObjects(Part):
    """A walk over them for each thing that is asked: names are numbered before the training, containers grow in it."""

    def forget(self):
        """Starts over."""
        self._containers = grown_containers.GrownContainers()

    def step(self, optimizer, followed):
        """Walks, where it is due."""
        if followed.index:
            return
        count = followed.count
        if count == NAMES_AT:
            self._tell_names(sys._getframe(1))
        elif is_due(count, FIRST):
            self._tell_containers(sys._getframe(1), count)

    def _tell_names(self, frame):
        names = numbered_names.NumberedNames()
        for held in held_objects.held_by(frame):
            names.look(held)
        for one in names.found:
            self.marks.tell("names", **one)

    def _tell_containers(self, frame, count):
        grown = []
        for held in held_objects.held_by(frame):
            self._containers.look(held, count, grown)
        for one in grown:
            self.marks.tell("container-grows", step=count, at=own_frames(frame), **one)

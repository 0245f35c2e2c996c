"""Looks at what the program's objects hold, at a few steps of its first optimizer: 3, 5, 20, 40, 80, 160 ..."""

from __future__ import annotations

import sys

from ..object_hooks import grown_containers, held_generators, held_objects, numbered_names, rounded_averages
from ..part import Part, is_due
from ..torch_hooks.wrapped_models import own_frames

NAMES_AT, FIRST = 3, 40
GENERATORS_AT = (5, 20, 80, 320, 1280)  # and the steps after each, until all looks are taken


class ProgramObjects(Part):
    """A walk for each thing that is asked: names are numbered before training, containers and generators move in it."""

    def forget(self):
        """Starts over."""
        self._containers = grown_containers.GrownContainers()
        self._generators = held_generators.HeldGenerators()
        self._averages = rounded_averages.RoundedAverages()

    def step(self, optimizer, followed):
        """Walks, where it is due."""
        if followed.index:
            return
        count = followed.count
        if count == NAMES_AT:
            self._tell_names(sys._getframe(1))
        elif is_due(count, FIRST):
            self._tell_containers(sys._getframe(1), count)
        since = next((count - first for first in GENERATORS_AT if 0 <= count - first < held_generators.LOOKS), None)
        if since is not None:
            self._tell_generators(sys._getframe(1), count, since)

        for first, last in rounded_averages.WINDOWS:
            if count == first:
                self._averages.begin(sys._getframe(1), self.marks.learning())
            elif count == last:
                for one in self._averages.end(sys._getframe(1), last - first):
                    self.marks.tell("average-rounded", step=count, at=own_frames(sys._getframe(1)), **one)

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

    def _tell_generators(self, frame, count, since):
        """Tells of generators that were drawn from in each of three steps."""
        found = self._generators.look(frame, begins=not since)
        if found:
            self.marks.tell("generators", step=count, seed=held_generators.seed_of_process(), held=found)

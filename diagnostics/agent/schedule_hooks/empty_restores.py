"""States of optimizers that were loaded and held nothing, beside a schedule that was given back as it was.

A schedule that was given back says that steps were made before; a state without an entry, of an optimizer that keeps
something of each step, says that none were. Whether it does is seen at its second step.
"""

from __future__ import annotations

import weakref

from ..part import Part
from ..torch_hooks.wrapped_models import own_frames

MOST = 16


class EmptyRestores(Part):
    """Of all optimizers of this process, up to their second step."""

    def forget(self):
        """Starts over."""
        self._empty, self._schedules = {}, {}  # id of an optimizer -> (weak reference, frames); -> (class, count)

    def loaded(self, optimizer, state, frame):
        """A state was loaded into an optimizer."""
        key = id(optimizer)
        self._empty.pop(key, None)
        given = state.get("state") if isinstance(state, dict) else None
        empty = isinstance(given, dict) and not given and not len(optimizer.state)
        if empty and len(self._empty) < MOST and not self.marks.count_of(optimizer):
            self._empty[key] = weakref.ref(optimizer, lambda _: self._empty.pop(key, None)), own_frames(frame)

    def restored(self, scheduler):
        """A state was loaded into a scheduler."""
        optimizer, count = getattr(scheduler, "optimizer", None), getattr(scheduler, "last_epoch", None)
        if type(count) is int and count > 0 and len(self._schedules) < MOST:
            self._schedules[id(optimizer)] = type(scheduler).__qualname__, count

    def step(self, optimizer, followed):
        """Looks at what an optimizer keeps of its first step."""
        if not self._empty or id(optimizer) not in self._empty:
            return
        scheduler, count = self._schedules.get(id(optimizer), ("", 0))
        if followed.count > 1 or not count:
            _, loaded = self._empty.pop(id(optimizer))
            if count and len(optimizer.state):
                self.marks.tell(
                    "restored-empty", optimizer=followed.index, optimizer_class=type(optimizer).__qualname__,
                    scheduler=scheduler, count=count, step=followed.count, at=loaded,
                )  # fmt: skip

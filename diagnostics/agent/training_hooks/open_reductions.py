"""Steps that use gradients whose asynchronous reduction nobody waited for: which numbers they use is chance.

On the host an operation that comes later may well end earlier: only wait() on each handle says that a gradient is
whole. On a GPU the operations of a group follow each other on one stream, so nothing is said there.
"""

from __future__ import annotations

import sys

from ..part import Part, is_due
from ..torch_hooks.wrapped_models import own_frames


class OpenReductions(Part):
    """Of all optimizers: what was still open when they began a step."""

    def forget(self):
        """Starts over."""
        self._runs = {}  # number of an optimizer -> steps in a row

    def step(self, optimizer, followed):
        """Looks whether a gradient that this step uses is being reduced."""
        recorder = getattr(self.marks.agent, "collectives", None)
        if recorder is None or not (recorder.open or recorder.waited):
            return
        held = [one.grad for group in optimizer.param_groups for one in group["params"] if one.grad is not None]
        ids = {id(one) for one in held}
        still = [one for one in recorder.open.values() if id(one[0]()) in ids]
        started = next((one[2] for one in recorder.open.values() if one[2]), [])
        if not still:
            self._runs.pop(followed.index, None)
        else:
            self._runs[followed.index] = run = self._runs.get(followed.index, 0) + 1
            if is_due(run):
                self.marks.tell(
                    "open-reductions", optimizer=followed.index, step=followed.count, run=run, open=len(still),
                    gradients=len(held), waited=recorder.waited, op=still[0][1], started=started,
                    wait_at=recorder.waited_at, at=own_frames(sys._getframe(1)),
                )  # fmt: skip
        recorder.open.clear()
        recorder.waited = 0

"""How a job is ended: asked, asked again, killed, with time between."""

from __future__ import annotations

import signal
import time

# A job that saves a checkpoint when it is asked to end needs its time; Slurm and Kubernetes give 30 s in all.
GRACE_S = {signal.SIGINT: 10.0, signal.SIGTERM: 20.0, signal.SIGHUP: 10.0, signal.SIGQUIT: 10.0}
SECOND_GRACE_S = 5.0
DEADLOCK_GRACE_S = 2.0  # for threads that still write, and launchers that end their ranks
KILL_GRACE_S = 5.0  # what has not ended by then waits inside the kernel
KILL_AGAIN_S = 0.2  # a process may fork between the look and the signal


class Ending:
    """Says which signal is due. `is_on` from the first one on."""

    def __init__(self) -> None:
        self.is_on = False
        self._steps: list[tuple[float, signal.Signals]] = []
        self._over_at = float("inf")
        self._hurried = False

    @property
    def is_over(self) -> bool:
        """Whether nothing more can be done."""
        return time.monotonic() > self._over_at

    def begin(self, number: signal.Signals, *, deadlocked: bool = False) -> None:
        """Starts after `number` was sent. Ranks in a deadlock can save nothing any more."""
        grace_s = DEADLOCK_GRACE_S if deadlocked else GRACE_S.get(number, SECOND_GRACE_S)
        now = time.monotonic() + grace_s
        self.is_on = True
        self._steps = [(now, signal.SIGKILL)]
        if number != signal.SIGTERM:
            self._steps = [(now, signal.SIGTERM), (now + SECOND_GRACE_S, signal.SIGKILL)]

    def begin_with(self, number: signal.Signals) -> None:
        """Starts with `number` itself, for what a job has left."""
        now = time.monotonic()
        self.is_on = True
        self._steps = [(now, number), (now + SECOND_GRACE_S, signal.SIGKILL)]

    def hurry(self) -> None:
        """Makes the next signal due at once, and the following one a second later."""
        self._hurried = True
        now = time.monotonic()
        self._steps = [(now + index, number) for index, (_, number) in enumerate(self._steps)]

    def hurry_once(self) -> None:
        """Hurries where nobody has asked to before."""
        if not self._hurried:
            self.hurry()

    def next_signal(self) -> signal.Signals | None:
        """Returns the signal that is due now; each once, but SIGKILL until nothing is left."""
        now = time.monotonic()
        if not self._steps or now < self._steps[0][0]:
            return None
        _, number = self._steps.pop(0)
        if number == signal.SIGKILL:
            self._over_at = min(self._over_at, now + KILL_GRACE_S)
            self._steps = [(now + KILL_AGAIN_S, signal.SIGKILL)]
        return number

"""What is done about a job in which nothing moves: samples while it lasts, and attempts at a proof that it is for ever.

    work = watch.due(at_s, quiet_since_s, patience_s, living, stalled=...)     # each look; a function to call, or None

The function runs beside the loop that follows the job. Nothing of it touches the job but a byte for its agents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from diagnostics.record.supervisor_facts import Missing
from diagnostics.supervisor.capture.run_folder import RunFolder
from diagnostics.supervisor.capture.sampling import StallSamples
from diagnostics.supervisor.hang.deadlock_proof import DeadlockProver, Proof

SUSPICION = 0.5  # of the patience with which a stall is waited for: from then on processes are looked at
GOES_ON_S = 5.0  # a job that records something for longer than that after a proof got out of it by itself


class HangMonitor:
    """Watches one job. `proof` is the latest one that still holds."""

    def __init__(self, place: RunFolder, now: Callable[[], float], note: Callable[[Sequence[Missing]], None]) -> None:
        self._samples = StallSamples(place.record)
        self._prover = DeadlockProver(place, self._samples)
        self._now, self._note = now, note
        self._quiet_since_s = 0.0
        self._sampled_since_s: float | None = None
        self._told = False  # of a stall: its samples are kept
        self._moved_s: float | None = None  # when something was first recorded after the proof
        self.proof: Proof | None = None

    def due(
        self, at_s: float, quiet_since_s: float, patience_s: float, living: Mapping[int, int], *, stalled: bool
    ) -> Callable[[], None] | None:
        """Returns what is to be done now: a look, or an attempt at a proof; None for nothing."""
        if quiet_since_s != self._quiet_since_s:
            self._quiet_since_s = quiet_since_s
            self._go_on()
        self._told |= stalled
        if self.proof is None and self._prover.is_due(at_s, quiet_since_s, living):
            return lambda: self._prove(living, quiet_since_s)
        suspicious = stalled or self.proof is not None or at_s - quiet_since_s >= SUSPICION * patience_s
        if suspicious and self._samples.due(at_s, quiet_since_s + SUSPICION * patience_s):
            return lambda: self.sample(living)
        return None

    def sample(self, living: Mapping[int, int]) -> None:
        """Looks at every process, stacks too."""
        self._begin_samples(self._quiet_since_s)
        self._note(self._samples.take(living, self._now))

    def _prove(self, living: Mapping[int, int], quiet_since_s: float) -> None:
        self._begin_samples(quiet_since_s)
        self.proof = self._prover.attempt(
            living, quiet_since_s, self._now, lambda: self._quiet_since_s == quiet_since_s
        )
        self._moved_s = None

    def _begin_samples(self, quiet_since_s: float) -> None:
        """Leaves out samples of an earlier pause, unless somebody was told of it."""
        if self._sampled_since_s != quiet_since_s:
            if not self._told:
                self._samples.forget()
            self._sampled_since_s = quiet_since_s

    def _go_on(self) -> None:
        if self.proof is None:
            return
        if self._moved_s is None:
            self._moved_s = self._quiet_since_s
        elif self._quiet_since_s - self._moved_s > GOES_ON_S:
            self.proof = None

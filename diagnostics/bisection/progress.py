"""What a bisection shows while it runs: which try of how many at most, what is tried, the time left."""

from __future__ import annotations

from typing import Protocol

from diagnostics.bisection.trial import Trial


class BisectionProgress(Protocol):
    """Told of each try."""

    def trying(self, what: str, *, number: int, most: int | None, left_s: float | None) -> None:
        """This is tried from now on, as the `number`th of `most` at most."""

    def tried(self, what: str, trial: Trial) -> None:
        """That try gave this."""

    def say(self, line: str) -> None:
        """Something to be read."""

    def doing(self, what: str) -> None:
        """This, which is no try, is done from now on."""

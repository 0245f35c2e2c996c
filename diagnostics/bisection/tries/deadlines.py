"""How long a try may take: much longer than those that came to their end. Pure."""

from __future__ import annotations

from diagnostics.bisection.case import Case

FIRST_S = 60.0
COMPILING_S = 300.0  # a first compile may take minutes
COMPILING_FACTOR = 10.0  # of what the same takes as it is, beside FIRST_S
LEAST_S = 5.0
FACTOR = 6.0
LEAST_LONGER_S = 20.0
LONGER = 4.0


class Deadlines:
    """Deadlines by what healthy tries took; those that compile are judged among themselves."""

    def __init__(self, most_s: float | None = None) -> None:
        """`most_s` is the user's own limit of one try."""
        self._most_s = most_s
        self._slowest: dict[bool, float] = {}

    def usual(self, case: Case) -> float:
        """Returns the deadline as healthy tries suggest it; the longest one where there was none yet."""
        slowest = self._slowest.get(case.settings.compile)
        return self._first(case) if slowest is None else min(self._first(case), max(LEAST_S, FACTOR * slowest))

    def longer(self, case: Case) -> float:
        """Returns the deadline under which a hang is believed that was never seen before."""
        if case.settings.compile not in self._slowest:
            return self._first(case)
        return min(self._first(case), max(LEAST_LONGER_S, LONGER * self.usual(case)))

    def learn(self, case: Case, seconds: float) -> None:
        """Notes what a try took that came to its end."""
        key = case.settings.compile
        self._slowest[key] = max(self._slowest.get(key, 0.0), seconds)

    def _first(self, case: Case) -> float:
        """Returns the deadline of a case about which nothing is known."""
        if self._most_s is not None:
            return self._most_s
        if not case.settings.compile:
            return FIRST_S
        eager = self._slowest.get(False)
        return COMPILING_S if eager is None else min(COMPILING_S, FIRST_S + COMPILING_FACTOR * eager)

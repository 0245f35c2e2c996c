"""Which of the findings are shown: errors and warnings that are confirmed or likely, the rest when asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.audit.found import Audit, Found
from diagnostics.core.findings import Confidence, Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What was asked for beyond errors and warnings."""

    possible: bool = False
    advice: bool = False

    def shows(self, one: Found) -> bool:
        """Returns whether a finding is shown."""
        surely = self.possible or one.hit.confidence is not Confidence.POSSIBLE
        return surely and (self.advice or one.severity is not Severity.INFO)

    def shown(self, audit: Audit) -> tuple[Found, ...]:
        """Returns the findings that are shown."""
        return tuple(one for one in audit.found if self.shows(one))

    def hidden(self, audit: Audit) -> dict[str, int]:
        """Returns how many are not shown, by why."""
        left = [one for one in audit.found if not self.shows(one)]
        possible = sum(one.hit.confidence is Confidence.POSSIBLE for one in left)
        return {
            "possible": possible,
            "advice": len(left) - possible,
            "ignored": len(audit.ignored),
            "baseline": len(audit.known),
            "unchanged": len(audit.unchanged),
        }


def not_shown(audit: Audit, shows: Filter) -> Iterator[str]:
    """Yields "4 possible (--possible)" and the like."""
    hidden = shows.hidden(audit)
    if hidden["possible"]:
        yield f"{hidden['possible']} possible (--possible)"
    if hidden["advice"]:
        yield f"{hidden['advice']} note{'s' * (hidden['advice'] != 1)} (--advice)"
    if hidden["ignored"]:
        yield f"{hidden['ignored']} ignored by comments or settings"
    if hidden["baseline"]:
        yield f"{hidden['baseline']} in the baseline"
    if hidden["unchanged"]:
        yield f"{hidden['unchanged']} on lines that have not changed"

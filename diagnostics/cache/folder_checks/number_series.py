"""The numbers in the names of one series of files, kept as intervals: memory grows with the gaps, not the files."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

MAX_INTERVALS = 4096  # a series with more holes is no dense one


def _longs() -> array[int]:
    return array("q")


@dataclass(slots=True)
class NumberSet:
    """A set of numbers as sorted intervals; `scattered` once it has too many to keep."""

    count: int = 0
    begins: array[int] = field(default_factory=_longs)
    ends: array[int] = field(default_factory=_longs)  # each the last of its interval
    scattered: bool = False

    def add(self, number: int) -> None:
        """Takes a number in; one that is in it already changes nothing."""
        if self.ends and number == self.ends[-1] + 1:
            self.ends[-1] = number
            self.count += 1
            return
        at = bisect_right(self.begins, number)  # intervals before `at` begin at or before the number
        if self.scattered or (at and number <= self.ends[at - 1]):
            return
        self.count += 1
        after_left = bool(at) and self.ends[at - 1] == number - 1
        before_right = at < len(self.begins) and self.begins[at] == number + 1
        if after_left and before_right:
            self.ends[at - 1] = self.ends.pop(at)
            self.begins.pop(at)
        elif after_left:
            self.ends[at - 1] = number
        elif before_right:
            self.begins[at] = number
        else:
            self.begins.insert(at, number)
            self.ends.insert(at, number)
            self.scattered = len(self.begins) > MAX_INTERVALS

    def __contains__(self, number: int) -> bool:
        at = bisect_left(self.ends, number)
        return at < len(self.ends) and self.begins[at] <= number

    @property
    def span(self) -> int:
        """Numbers from the least to the greatest, present or not."""
        return self.ends[-1] - self.begins[0] + 1 if self.begins else 0

    def holes(self) -> Iterator[tuple[int, int]]:
        """Yields the first and last number of each gap."""
        for end, begin in zip(self.ends, self.begins[1:], strict=False):
            yield end + 1, begin - 1


@dataclass(slots=True)
class NumberSeries:
    """Files whose names are `prefix`, a number, `suffix`."""

    prefix: str
    suffix: str
    numbers: NumberSet = field(default_factory=NumberSet)
    padded: dict[int, str] = field(default_factory=dict)  # the first name by width, of numbers with a zero ahead
    shortest: str = ""  # the name with the shortest number without one
    shortest_width: int = 1 << 30
    files: int = 0

    def add(self, digits: str, name: str) -> None:
        """Takes a file in."""
        self.files += 1
        self.numbers.add(int(digits))
        if digits[0] == "0" and len(digits) > 1:
            if len(digits) not in self.padded:
                self.padded[len(digits)] = name
        elif len(digits) < self.shortest_width:
            self.shortest, self.shortest_width = name, len(digits)

    def name_of(self, number: int) -> str:
        """Returns the name that the file of a number would have."""
        width = min(self.padded, default=1)
        return f"{self.prefix}{number:0{width}d}{self.suffix}"

    def widths_apart(self) -> tuple[str, str] | None:
        """Returns two names whose numbers are not padded alike, None where all are."""
        names = [name for _, name in sorted(self.padded.items())]
        if len(names) > 1:
            return names[0], names[-1]
        if names and self.shortest_width < min(self.padded):
            return self.shortest, names[0]
        return None

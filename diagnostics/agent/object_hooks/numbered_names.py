"""Tables of the program that number names from 0 on, classes and words: a checksum of the names, one of their numbers.

Ranks are compared from outside: the same names with other numbers mean other classes on each. Names are not kept but
for a few short ones that show the difference.
"""

from __future__ import annotations

import zlib

from ..shared.redaction import hide

LEAST, MOST = 2, 65536
MOST_ALL = 131072  # entries of all tables
MOST_TABLES = 24
SHOWN, MOST_SHOWN = 4, 24


class NumberedNames:
    """Those that one walk meets."""

    def __init__(self):
        self.found, self._left = [], MOST_ALL

    def look(self, held):
        """Notes a table or a list of different names."""
        value, kind = held.value, type(held.value)
        if kind not in (dict, list) or not LEAST <= len(value) <= min(MOST, self._left):
            return
        if len(self.found) >= MOST_TABLES:
            return
        numbers = _numbers_of(value) if kind is dict else _places_of(value)
        if numbers is None:
            return
        self._left -= len(numbers)
        names = sorted(numbers)
        ordered = [numbers[name] for name in names]
        self.found.append(
            {"path": held.path[:120], "name": held.name[:80], "owner": held.owner[:80], "file": held.file,
             "length": len(names), "names": _checksum(names), "numbers": _checksum(map(str, ordered)),
             "first": [[hide(name[:MOST_SHOWN]), numbers[name]] for name in names[:SHOWN]]}
        )  # fmt: skip


def _numbers_of(value):
    """Returns the table itself, where it has each number from 0 on for a name; None where it is something else."""
    key, number = next(iter(value.items()))
    if type(key) is not str or type(number) is not int:
        return None
    table = dict(value)  # at once: another thread may add to it
    if any(type(one) is not str for one in table) or any(type(one) is not int for one in table.values()):
        return None
    return table if sorted(table.values()) == list(range(len(table))) else None


def _places_of(value):
    """Returns the place of each name in a list of different ones, None where it is something else."""
    if type(value[0]) is not str or any(type(one) is not str for one in value):
        return None
    places = {name: place for place, name in enumerate(value)}
    return places if len(places) == len(value) else None


def _checksum(texts):
    return zlib.crc32("\0".join(texts).encode("utf-8", "replace"))

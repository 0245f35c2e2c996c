"""The nearest known name to a mistyped one."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection

LEAST_ALIKE = 0.65  # a slip or two of the fingers; less is another word


def nearest(name: str, known: Collection[str]) -> str:
    """Returns '; did you mean ...?' with the one known name that has `name` as a word of it, else the most similar.

    Nothing where none is near: what is far off leads astray.
    """
    by_lower = {item.lower(): item for item in known}
    close = [one for one in by_lower if name.lower() in re.split(r"[-_. ]", one)] if name else []
    if len(close) != 1:
        close = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=LEAST_ALIKE)
    return f"; did you mean '{by_lower[close[0]]}'?" if close else ""

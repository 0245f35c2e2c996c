"""Files of one JSON object a line, as a process that may die writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def read_lines(file: Path) -> list[dict[str, Any]]:
    """Returns the objects up to the first line that was cut off, [] where there is no such file."""
    found: list[dict[str, Any]] = []
    try:
        text = file.read_text(encoding="utf-8")
    except OSError:
        return found
    for line in text.splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            break
        if isinstance(value, dict):
            found.append(value)
    return found

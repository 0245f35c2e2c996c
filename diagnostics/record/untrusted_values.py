"""Values of JSON that anybody may have written, as what they should be or nothing."""

from __future__ import annotations

from typing import Any

from diagnostics.record.agent_bytes import printable


def text_of(value: Any) -> str:
    """Returns a text that can be shown, "" of anything else."""
    return printable(value.encode("utf-8", "replace")) if isinstance(value, str) else ""


def number_of(value: Any) -> int | None:
    """Returns a whole number of 64 bits, None of anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63 else None

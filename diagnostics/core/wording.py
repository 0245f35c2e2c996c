"""Bytes as people read them."""

from __future__ import annotations


def shown_bytes(count: float) -> str:
    """Returns a size in the binary unit that leaves one to four digits: '1.8 GiB', '64 MiB'."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(count) < 1024:
            return f"{count:.3g} {unit}" if count < 100 else f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"

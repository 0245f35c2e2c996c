"""What stays the same of a finding while other lines change: rule, file and the text of its line."""

from __future__ import annotations

import hashlib

from diagnostics.audit.found import Found


def fingerprint(one: Found) -> str:
    """Returns 32 hexadecimal digits, equal for findings of one rule on equal lines of one file."""
    hit = one.hit
    text = f"{one.code} {hit.file.shown} {hit.file.line(hit.line).strip()}"
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:32]

"""Findings that were there before: a file of them, so that only new ones fail a build."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from diagnostics.audit.fingerprint import fingerprint
from diagnostics.audit.found import Found
from diagnostics.core.errors import UsageError, from_os_error
from diagnostics.core.findings import Confidence, Severity

VERSION = 1


def load(path: Path) -> Counter[str]:
    """Returns how often each fingerprint was there. Raises UsageError for a file that is none of ours."""
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UsageError(
            f"--baseline {path}: there is no such file", hint=f"ups-doctor audit --baseline {path} --write-baseline"
        ) from error
    except OSError as error:
        refused = from_os_error(error, action="cannot read", path=path)
        raise UsageError(refused.message, hint=refused.hint) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"--baseline {path}: is no JSON", hint="write it anew: --write-baseline") from error
    entries = body.get("findings") if isinstance(body, dict) and body.get("version") == VERSION else None
    if not isinstance(entries, list) or not all(_is_entry(one) for one in entries):
        raise UsageError(f"--baseline {path}: is no baseline of this audit", hint="write it anew: --write-baseline")
    return Counter(one["fingerprint"] for one in entries)


def _is_entry(one: Any) -> bool:
    return isinstance(one, dict) and isinstance(one.get("fingerprint"), str)


def text_of(found: Iterable[Found]) -> str:
    """Returns the file: one entry a finding that may fail a build, without the text of its line."""
    entries = [
        {"rule": one.code, "path": one.hit.file.shown, "line": one.hit.line, "fingerprint": fingerprint(one)}
        for one in found
        if one.severity >= Severity.WARNING and one.hit.confidence is not Confidence.POSSIBLE
    ]
    return json.dumps({"version": VERSION, "findings": entries}, indent=1) + "\n"


def part(found: Iterable[Found], before: Counter[str]) -> tuple[tuple[Found, ...], tuple[Found, ...]]:
    """Returns the findings that are new, and those that were there; of equal lines as many as there were."""
    left = Counter(before)
    new: list[Found] = []
    old: list[Found] = []
    for one in found:
        mark = fingerprint(one)
        if left[mark]:
            left[mark] -= 1
            old.append(one)
        else:
            new.append(one)
    return tuple(new), tuple(old)

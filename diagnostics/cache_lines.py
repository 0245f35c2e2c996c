"""A cache scan as terminal lines: what is wrong with its proof, then a summary read in five seconds. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from diagnostics.cache_scan import CacheScan
from diagnostics.caches.file_scan import Tally
from diagnostics.findings import Finding, Severity

INDENT = " " * 12
UNKNOWN = "that nobody could look into"
UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def lines(scan: CacheScan) -> Iterator[str]:
    """Yields the findings with evidence and fix, then at most five lines of summary."""
    blocks = [*(line for finding in scan.findings for line in _finding(finding)), *([""] * bool(scan.findings))]
    for line in (*blocks, *_summary(scan)):
        # File names and device tags come from outside: no control character of theirs reaches the terminal.
        yield line if line.isprintable() else line.encode("unicode_escape").decode("ascii")


def _finding(finding: Finding) -> Iterator[str]:
    mark = "FAIL" if finding.severity is Severity.ERROR else "warn"
    yield f"{mark}  {finding.code}  {finding.title}"
    for evidence in finding.evidence:
        expected = f" (expected {evidence.expected})" if evidence.expected else ""
        yield f"{INDENT}read: {evidence.source}: {evidence.observed}{expected}"
    if finding.fix:
        yield f"{INDENT}fix:  {finding.fix.text}"
        for command in finding.fix.commands:
            yield f"{INDENT}      {command}"


def _summary(scan: CacheScan) -> Iterator[str]:
    stopped = ", stopped by Ctrl-C" if scan.interrupted else ""
    if not scan.recognised:
        yield f"no cache file among {scan.files} files ({scan.seconds:.1f} s){stopped}{_skipped(scan)}"
        return
    good = f"{scan.recognised - scan.bad} of {scan.recognised} cache files clean"
    yield f"{good}, {in_bytes(scan.bytes)}, {scan.tensors} tensors ({scan.seconds:.1f} s){stopped}"
    if scan.devices:
        yield f"devices: {_by_name(scan.devices, scan.device_files)}"
        yield f"types:   {_by_name(scan.dtypes, {})}"
    formats = ", ".join(f"{count} {name or UNKNOWN}" for name, count in sorted(scan.formats.items()))
    yield f"formats: {formats}{_skipped(scan)}"
    if scan.findings:
        yield f"explain: ups-doctor explain {scan.findings[0].code}"


def _skipped(scan: CacheScan) -> str:
    if not scan.skipped:
        return ""
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(scan.skipped.items()))
    return f"; left out: {reasons}"


def _by_name(tallies: Mapping[str, Tally], files: Mapping[str, int]) -> str:
    return ", ".join(
        f"{name} {in_bytes(tally.bytes)} in {tally.storages} storage{'s' * (tally.storages != 1)}"
        + (f" of {files[name]} file{'s' * (files[name] != 1)}" if name in files else "")
        for name, tally in tallies.items()
    )


def in_bytes(size: float) -> str:
    """Returns a size in bytes with a binary unit, for people."""
    for unit in UNITS[:-1]:
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} {UNITS[-1]}"

"""A cache scan as terminal lines: what is wrong with its proof, then a summary read in five seconds. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping

from diagnostics.cache.file_scan import FileScan, Tally
from diagnostics.cache.scan.result import ScanResult
from diagnostics.core.console import printable_line
from diagnostics.core.findings import Finding, Severity

INDENT = " " * 12
LABEL = 9  # "devices: "
UNKNOWN = "that nobody could look into"
UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
MARKS = {Severity.ERROR: "FAIL", Severity.WARNING: "warn", Severity.INFO: "note"}
COLOURS = {"FAIL": "1;31", "warn": "33", "note": "36"}
SHOWN = 4  # keys, folders, devices or types named in one line


def lines(scan: ScanResult, *, width: int = 0, colour: bool = False) -> Iterator[str]:
    """Yields the findings with evidence and fix, then a few lines of summary, wrapped where `width` is given."""
    for finding in scan.findings:
        for number, line in enumerate(_finding(finding)):
            mark = MARKS[finding.severity]
            shown = list(_fitted(line, width))
            if colour and number == 0:
                shown[0] = f"\033[{COLOURS[mark]}m{mark}\033[0m{shown[0].removeprefix(mark)}"
            yield from shown
    if scan.findings:
        yield ""
    for line in _summary(scan):
        yield from _fitted(line, width)


def bad_line(scan: FileScan) -> str:
    """Returns one bad file in one line."""
    told = "; ".join(f"{problem.name}: {problem.observed}" for problem in scan.problems)
    return printable_line(f"{scan.path}: {told}")


def _fitted(line: str, width: int) -> Iterator[str]:
    line = printable_line(line)  # file names and device tags come from outside
    told = line.lstrip()
    label = told.startswith(("read: ", "fix:  "))
    command = len(line) - len(told) > len(INDENT) or told.startswith(
        "do:  "
    )  # stays in one piece, so that it can be copied
    if not width or command or len(line) <= width:
        yield line
        return
    deep = len(line) - len(told) + 6 * label or (len(INDENT) if line[:4] in COLOURS else LABEL)
    yield from textwrap.wrap(
        line, max(width, 40), subsequent_indent=" " * deep, break_long_words=False, break_on_hyphens=False
    )


def _finding(finding: Finding) -> Iterator[str]:
    yield f"{MARKS[finding.severity]}  {finding.code}  {finding.title}"
    for evidence in finding.evidence:
        expected = f" (expected {evidence.expected})" if evidence.expected else ""
        yield f"{INDENT}read: {evidence.source}: {evidence.observed}{expected}"
    if finding.fix:
        yield f"{INDENT}fix:  {finding.fix.text}"
        for command in finding.fix.commands:
            yield f"{INDENT}      {command}"


def _summary(scan: ScanResult) -> Iterator[str]:
    early = ", stopped by Ctrl-C" if scan.interrupted else ", stopped early" if scan.stopped else ""
    took = f"({scan.seconds:.1f} s){early}"
    if scan.stopped:
        yield f"stopped: {scan.stopped}; the files after it were not scanned. In one process: --jobs 1"
    if not scan.recognised:
        yield f"no cache file among {scan.files:,} file{'s' * (scan.files != 1)} {took}{_skipped(scan)}"
        return
    yield f"{_verdict(scan)}, {scan.tensors:,} tensor{'s' * (scan.tensors != 1)} {took}"
    yield from _where(scan)
    if scan.devices:
        yield f"devices: {_by_name(scan.devices, scan.device_files)}"
        yield f"types:   {_by_name(scan.dtypes, {})}"
    formats = ", ".join(f"{count:,} {name or UNKNOWN}" for name, count in sorted(scan.formats.items()))
    yield f"formats: {formats}{_skipped(scan)}"
    if scan.findings:
        yield f"explain: ups-doctor explain {scan.findings[0].code}"


def _verdict(scan: ScanResult) -> str:
    if not scan.bad:
        return f"{scan.recognised:,} of {scan.recognised:,} cache files clean, {in_bytes(scan.bytes)}"
    if not scan.failed:
        return f"{scan.bad:,} of {scan.recognised:,} cache files have a warning, {in_bytes(scan.bytes)}"
    warned = f", {scan.bad - scan.failed:,} have a warning" if scan.bad > scan.failed else ""
    sizes = f"{in_bytes(scan.failed_bytes)} of {in_bytes(scan.bytes)}"
    return (
        f"{scan.failed:,} of {scan.recognised:,} cache files {'is' if scan.failed == 1 else 'are'} bad{warned}, {sizes}"
    )


def _where(scan: ScanResult) -> Iterator[str]:
    """Which folders and keys, and what to do."""
    bad = {name: use for name, use in scan.folders.items() if use.bad}
    if bad and len(scan.folders) > 1:
        worst = sorted(bad.items(), key=lambda item: -item[1].bad)
        clean = len(scan.folders) - len(bad)
        told = [f"{name or '.'} ({use.bad:,} of {use.files:,} bad)" for name, use in worst]
        yield f"folders: {_first(told)}{f'; {clean:,} without' if clean else ''}"
    if scan.keys:
        most = sorted(scan.keys.items(), key=lambda item: (-item[1].files, -item[1].bytes))
        told = [
            f"{key or 'the file itself'} in {use.files:,} file{'s' * (use.files != 1)} ({in_bytes(use.bytes)},"
            f" {', '.join(sorted(use.devices))})"
            for key, use in most
        ]
        yield f"keys:    {_first(told)}"
    commands = [command for finding in scan.findings if finding.fix for command in finding.fix.commands]
    if commands:
        yield f"do:      {commands[0]}"


def _first(told: list[str]) -> str:
    more = f" and {len(told) - SHOWN:,} more" if len(told) > SHOWN else ""
    return ", ".join(told[:SHOWN]) + more


def _skipped(scan: ScanResult) -> str:
    if not scan.skipped:
        return ""
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in sorted(scan.skipped.items()))
    return f"; left out: {reasons}"


def _by_name(tallies: Mapping[str, Tally], files: Mapping[str, int]) -> str:
    largest = sorted(tallies.items(), key=lambda item: -item[1].bytes)[:SHOWN]
    told = [
        f"{name} {in_bytes(tally.bytes)} in {tally.storages:,} storage{'s' * (tally.storages != 1)}"
        + (f" of {files[name]:,} file{'s' * (files[name] != 1)}" if name in files else "")
        for name, tally in tallies.items()
        if (name, tally) in largest
    ]
    more = f" and {len(tallies) - SHOWN:,} more" if len(tallies) > SHOWN else ""
    return ", ".join(told) + more


def in_bytes(size: float) -> str:
    """Returns a size in bytes with a binary unit, for people."""
    for unit in UNITS[:-1]:
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} {UNITS[-1]}"

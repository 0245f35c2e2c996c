"""Scans one file of any kind: the first format that recognises its content says what is in it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Protocol, cast

from diagnostics.cache import formats as format_files
from diagnostics.cache.file_bytes import FileBytes
from diagnostics.cache.file_scan import FileScan, Problem
from diagnostics.cache.formats.half_written import finished_name, half_written
from diagnostics.cache.formats.unreadable import unread
from diagnostics.core.registry import discover

ZIP_END = b"PK\x05\x06"


class CacheFormat(Protocol):
    """The contract of a plugin of `diagnostics/cache/formats/`."""

    CODE: str
    NAME: str
    FORMAT: str
    ENDINGS: Sequence[str]  # file names that promise this format, whatever they hold

    def recognise(self, head: bytes, tail: bytes) -> bool:
        """Whether a file with this beginning and this end is one of this format."""

    def scan(self, file: FileBytes) -> FileScan:
        """What is in the file; never raises for what the file contains."""

    # More, where the format has them:
    #   PART_OF_SEVERAL: bool
    #       Such a file is useless without others, and they without it: fix-cache moves none of them away.
    #   MAY_BE_EMPTY: bool
    #       An empty file with an ending of its own is nothing to report.
    #   MEANINGS, REMEDIES: dict[str, str]
    #       Words for problems of its own, by their names: "N of M cache files MEANING", and what helps. Common
    #       ones are in scan/explanations.py.
    #   deep(file: FileBytes, scan: FileScan) -> list[Problem]
    #       What only reading every byte shows (checksums); bounded memory, never raises for the content.
    #   repair(file: FileBytes, *, compact: bool) -> Patch | None
    #       How the file becomes loadable without the device it was saved from; see patch.py. None: nothing to do.
    #       Raises UnrepairableError saying why where no patch can be right.


class SpecialCase(CacheFormat, Protocol):
    """A format whose files another recognises too: a row of its archives, for one."""

    SPECIAL_CASE_OF: str  # the code of the other

    def claims(self, file: FileBytes) -> bool:
        """Whether a file that the other recognises is one of this format; reads little."""


@cache
def formats() -> tuple[CacheFormat, ...]:
    """Returns the known formats, by code."""
    return tuple(
        cast("CacheFormat", module) for module in discover(format_files).values() if hasattr(module, "recognise")
    )


def scan_file(path: str, *, deep: bool = False) -> FileScan:
    """Returns the scan of one file: recognised, or skipped with the reason; never raises for a file.

    `deep` reads every byte where the format has checksums.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 - a Path for each file costs a third of the scan
            return FileScan(path=path, size=0, skipped="not a regular file")
        with FileBytes(path) as file:
            scan = _scan_open(file, deep)
    except OSError as error:
        return _unread(path, error)
    if scan.skipped or not finished_name(os.path.basename(path)):  # noqa: PTH119 - as above
        return scan
    return half_written(scan)


def _unread(path: str, error: OSError) -> FileScan:
    if not os.path.lexists(path):
        return FileScan(path=path, size=0, skipped="removed before it was read")
    return unread(path, error, sample=_promised(path) is not None)


def format_of(file: FileBytes) -> CacheFormat | None:
    """Returns the format of an open file: the first that recognises it, or a special case of it that claims it."""
    head, tail = file.head(), file.tail()
    for plugin in formats():
        if plugin.recognise(head, tail):
            special = _special_cases().get(plugin.CODE, ())
            return next((case for case in special if case.claims(file)), plugin)
    return None


@cache
def _special_cases() -> dict[str, list[SpecialCase]]:
    cases: dict[str, list[SpecialCase]] = {}
    for plugin in formats():
        if general := getattr(plugin, "SPECIAL_CASE_OF", ""):
            cases.setdefault(general, []).append(cast("SpecialCase", plugin))
    return cases


def _scan_open(file: FileBytes, deep: bool) -> FileScan:
    plugin = format_of(file)
    if plugin is None:
        return _unrecognised(file, file.head(), file.tail())
    scan = plugin.scan(file)
    return _deeper(plugin, file, scan) if deep and not scan.skipped else scan


def _deeper(plugin: CacheFormat, file: FileBytes, scan: FileScan) -> FileScan:
    look: Callable[[FileBytes, FileScan], list[Problem]] | None = getattr(plugin, "deep", None)
    return replace(scan, problems=(*scan.problems, *look(file, scan))) if look else scan


def _unrecognised(file: FileBytes, head: bytes, tail: bytes) -> FileScan:
    whole_zip = head.startswith(b"PK") and ZIP_END in tail
    begins = "is a whole zip archive of something else" if whole_zip else f"begins with {head[:8]!r}"
    if head.lstrip()[:15].lower().startswith((b"<!doctype html", b"<html")):
        begins = "is an HTML page, as a server sends one in place of a file: to sign in, or with an error"
    begins = begins if head else "is empty"
    promised = _promised(file.path)
    if promised is not None and head == getattr(promised, "NO_MEMBERS", None):
        return FileScan(path=file.path, size=file.size, skipped="an archive of nothing")
    if promised is None or (not head and getattr(promised, "MAY_BE_EMPTY", False)):
        return FileScan(
            path=file.path, size=file.size, skipped="empty" if not head else "not a cache format known here"
        )
    # A few bytes of a zip archive, or none at all, are what a full disk or a kill leaves behind.
    cut = not whole_zip and (not head.strip(b"\0") or head.startswith((b"PK"[: len(head)], b"\x93NUMPY"[: len(head)])))
    problem = Problem(
        name="truncated-file" if cut else "corrupt-file",
        observed=f"{file.size} bytes; it {begins}",
        expected=f"a {promised.FORMAT} file, as its name says",
    )
    return FileScan(path=file.path, size=file.size, code=promised.CODE, format=promised.FORMAT, problems=(problem,))


def _promised(path: str) -> CacheFormat | None:
    """Returns the format that the name stands for; of a temporary file, the name it was to have."""
    name = os.path.basename(path)  # noqa: PTH119 - as above
    for candidate in (finished_name(name), name):
        stem, dot, ending = candidate.rpartition(".")
        for plugin in formats() if stem else ():
            if (dot + ending).lower() in plugin.ENDINGS:
                return plugin
    return None

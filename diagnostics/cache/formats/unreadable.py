"""A file that cannot be read, or a folder that cannot be listed.

What it does: names each file and folder below the given paths that this user may not read, that the disk
gives an error for, or that is a link to nothing, and goes on with the others.

Why it matters: a loader that comes to such a file raises in the middle of an epoch, on one rank alone; and
what nobody could look into is not known to be clean.

Bad:

    sudo python build_cache.py                # files of root, mode 600, read later by another user

Good:

    umask 022; python build_cache.py

Fix: check who owns each part of the path with `namei -l PATH`, then change the owner or the mode; remove
links to nothing; for an input/output error look at the disk first (`dmesg`).
"""

from __future__ import annotations

from diagnostics.cache.file_scan import FileScan, Problem
from diagnostics.core.findings import Severity

CODE = "C121"
NAME = "unreadable"
MEANINGS = {
    "unreadable-file": "cannot be read",
    "unreadable-folder": "{files} folder(s) cannot be listed: nothing in there was scanned",
}
REMEDIES = {
    "unreadable-file": "check who owns them, and each folder above them",
    "unreadable-folder": "check who owns them, and each folder above them",
}


def unread(path: str, error: OSError, *, sample: bool) -> FileScan:
    """Returns the scan of a file that gave this error; a warning where its name is not that of a cache file."""
    problem = Problem(
        name="unreadable-file",
        observed=error.strerror or str(error),
        expected="a file that can be read",
        severity=Severity.ERROR if sample else Severity.WARNING,
    )
    return FileScan(path=path, size=0, code=CODE, problems=(problem,), skipped="" if sample else "cannot be read")


def unlisted(folder: str, error: OSError) -> FileScan:
    """Returns what stands for the files of a folder that gave this error."""
    observed = error.strerror or str(error)
    problem = Problem(name="unreadable-folder", observed=observed, expected="a folder that can be listed")
    return FileScan(path=folder, size=0, code=CODE, problems=(problem,), skipped="a folder that cannot be listed")

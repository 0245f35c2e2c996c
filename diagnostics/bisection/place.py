"""The folder of one bisection: a new one, or, to go on with, the one that an earlier run left."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from diagnostics.core.errors import UsageError, from_os_error
from diagnostics.core.files import new_folder

REPORTS = Path("reports")
TRIES = "tries.jsonl"


@contextmanager
def opened(wanted: Path | None, *, resume: bool) -> Iterator[tuple[Path, str]]:
    """Gives the folder as an absolute path, and why it is not the one asked for, "" where it is.

    A new folder goes again where the block ends in a UsageError: nothing worth keeping was run. Raises UsageError where
    there is nothing to go on with, or where a new report would overwrite another.
    """
    if resume:
        yield _left(wanted), ""
        return
    is_first = wanted is None and not REPORTS.exists()
    folder, problem = _new(wanted)
    try:
        yield folder, problem
    except UsageError:
        shutil.rmtree(folder, ignore_errors=True)
        if is_first:
            with suppress(OSError):  # another report may have come meanwhile
                REPORTS.rmdir()
        raise


def _new(wanted: Path | None) -> tuple[Path, str]:
    if wanted is not None and _holds_something(wanted):
        full = "is not empty" if wanted.is_dir() else "is a file"
        raise UsageError(
            f"--report-dir {wanted} {full}: a report never overwrites another",
            hint="name a folder that does not exist yet, or go on with a bisection that was interrupted: --resume",
        )
    try:
        folder = new_folder(REPORTS, kind="bisect") if wanted is None else _made(wanted)
    except OSError as error:
        refused = from_os_error(error, action="cannot write", path=wanted or REPORTS)
        return Path(tempfile.mkdtemp(prefix="ups-doctor-bisect-")), refused.message
    return folder.absolute(), ""


def _left(wanted: Path | None) -> Path:
    if wanted is None:
        raise UsageError("--resume needs --report-dir: the folder of the bisection to go on with")
    if not (wanted / TRIES).is_file():
        raise UsageError(f"--resume: {wanted} holds no {TRIES}, so there is nothing to go on with")
    return wanted.absolute()


def _made(folder: Path) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    (folder / ".probe").touch()
    (folder / ".probe").unlink()
    return folder


def _holds_something(folder: Path) -> bool:
    try:
        return any(folder.iterdir())
    except NotADirectoryError:
        return True
    except OSError:  # not there, or unreadable: writing will say why
        return False

"""Opens HDF5 files and says in one sentence what is wrong with one that cannot be read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ups.errors import DataError, ForeignFileError, from_os_error

PDEBENCH = "https://doi.org/10.18419/darus-2986"


def open_for_reading(path: Path) -> Any:
    """Returns an open h5py.File. Raises DataError for a missing, foreign or truncated file."""
    import h5py  # here and not above: reading a configuration must not wait for it

    if not path.exists():
        raise DataError(
            f"there is no data file {path}",
            hint=f"make it: ups data generate --config CONFIG, or put PDEBench's file of that name there ({PDEBENCH})",
        )
    if not path.is_file() and not path.is_dir():
        raise DataError(f"{path} is no regular file, and cannot be read as HDF5", hint=f"see what it is: ls -l {path}")
    try:
        # Files of ours appear by a rename and are never changed in place, so no lock is needed;
        # a lock is refused on many network and read-only file systems.
        return h5py.File(path, "r", locking=False)
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: OSError) -> DataError:
    """Returns the sentence for what the HDF5 library said about `path`."""
    text = str(error)
    if truncated := re.search(r"truncated file: eof = (\d+).{0,200}?stored_eof = (\d+)", text):
        have, want = truncated.groups()
        return DataError(
            f"{path} is truncated: it is {have} bytes long and says that it holds {want}",
            hint="copy or download it again, or make it again with ups data generate --overwrite",
        )
    if "file signature not found" in text:
        return ForeignFileError(f"{path} is not an HDF5 file", hint=f"look at its first bytes: head -c 64 {path} | xxd")
    if error.errno:
        refused = from_os_error(error, action="cannot read", path=path)
        return DataError(refused.message, hint=refused.hint)
    return DataError(f"{path} is damaged: {text}", hint="copy or download it again")


@contextmanager
def reading(path: Path) -> Iterator[Any]:
    """Yields the open file and closes it; what the HDF5 library raises inside becomes a DataError."""
    with open_for_reading(path) as file:
        try:
            yield file
        except OSError as error:
            raise unreadable(path, error) from error


def require_datasets(file: Any, path: Path, task: str, wanted: tuple[str, ...]) -> None:
    """Raises DataError naming the datasets that are there, where one of `wanted` is not."""
    import h5py

    there = sorted(name for name, item in file.items() if isinstance(item, h5py.Dataset))
    missing = [name for name in wanted if name not in there]
    if missing:
        raise DataError(
            f"{path} has no dataset {_names(missing)}, which {task} needs; it has {_names(there) or 'no datasets'}",
            hint=f"look inside: ups data info {path}; PDEBench's files for {task} have {_names(wanted)}",
        )


def _names(names: list[str] | tuple[str, ...]) -> str:
    return ", ".join(f"'{name}'" for name in names)

"""Metrics as JSON, one record a line, each line on disk before training goes on."""

from __future__ import annotations

import json
from pathlib import Path

from ups.errors import from_os_error
from ups.tracking import Record


class JsonLines:
    """Appends records to `path`; what a crashed run logged after its last checkpoint is cut off first."""

    def __init__(self, path: Path, *, resume_at: int = 0) -> None:
        """`resume_at` is the length in bytes the file had at the checkpoint; 0 starts an empty one."""
        self.path = path
        try:
            self._file = path.open("ab")
            self._file.truncate(min(resume_at, path.stat().st_size))
        except OSError as error:
            raise from_os_error(error, action="cannot write the metrics", path=path) from error

    def log(self, record: Record) -> None:
        """Writes one line."""
        try:
            self._file.write(json.dumps(record).encode() + b"\n")
            self._file.flush()
        except OSError as error:
            raise from_os_error(error, action="cannot write the metrics", path=self.path) from error

    @property
    def size(self) -> int:
        """Bytes written so far, over all runs of this folder."""
        return self.path.stat().st_size

    def close(self) -> None:
        """Closes the file."""
        try:
            self._file.close()
        except OSError as error:
            raise from_os_error(error, action="cannot write the metrics", path=self.path) from error


def read(path: Path) -> list[dict[str, float | int | str]]:
    """Returns the records of a metrics file."""
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]

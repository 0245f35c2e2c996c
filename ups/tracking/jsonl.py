"""Metrics as JSON, one record a line, each line on disk before training goes on."""

from __future__ import annotations

import json
from pathlib import Path

from ups.errors import from_os_error
from ups.tracking import Record


class JsonLines:
    """Appends records to `path`; what a crashed run logged after its last checkpoint is cut off first."""

    def __init__(self, path: Path, *, resume_at: int = 0, patient: bool = False) -> None:
        """`resume_at` is the length in bytes the file had at the checkpoint; 0 starts an empty one.

        A `patient` one keeps what a full disk does not take, and writes it with a later record.
        """
        self.path, self._patient = path, patient
        self._held = b""
        try:
            self._file = path.open("ab", buffering=0)
            self._file.truncate(min(resume_at, path.stat().st_size))
        except OSError as error:
            raise from_os_error(error, action="cannot write the metrics", path=path) from error

    def log(self, record: Record) -> None:
        """Writes one line."""
        self._held += json.dumps(record).encode() + b"\n"
        try:
            while self._held:
                self._held = self._held[self._file.write(self._held) :]
        except OSError as error:
            if not self._patient:
                raise from_os_error(error, action="cannot write the metrics", path=self.path) from error

    @property
    def size(self) -> int:
        """Bytes of all records so far, over all runs of this folder."""
        return self._file.tell() + len(self._held)

    def close(self) -> None:
        """Closes the file. Raises DoctorError where it never took the last records."""
        try:
            if self._held:
                self._file.write(self._held)
            self._file.close()
        except OSError as error:
            raise from_os_error(error, action="cannot write the metrics", path=self.path) from error


def read(path: Path) -> list[dict[str, float | int | str]]:
    """Returns the records of a metrics file."""
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]

"""Reads the numbers of one data file, a hyperslab at a time.

The file is opened by the process that reads, at its first read: HDF5 handles survive neither
pickling nor a fork.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ups.data import hdf5, trajectories
from ups.data.field_spec import FieldSpec
from ups.data.pde.equations import equation
from ups.errors import DataError


class FieldReader:
    """Frames and fields of the file that `spec` describes: float32, (..., *grid, channels)."""

    def __init__(self, spec: FieldSpec) -> None:
        self.spec = spec
        self._file: Any = None
        self._pid = -1
        self._groups: list[str] = []  # of samples, where each is one

    def __getstate__(self) -> dict[str, Any]:
        return {"spec": self.spec}

    def __setstate__(self, state: dict[str, Any]) -> None:
        FieldReader.__init__(self, state["spec"])

    def frames(self, sample: int, start: int, stop: int) -> np.ndarray:
        """Returns frames [start, stop) of one trajectory, counted after the time stride: (T, *grid, C).

        Raises DataError for frames that are not in the file and for a value that is not finite.
        """
        if self.spec.kind != "trajectory":
            raise DataError(f"{self.spec.task} is a steady problem, it has no frames: {self.spec.path}")
        self._check_range("frame", start, stop, self.spec.frames)
        self._check_range("sample", sample, sample + 1, self.spec.samples)
        stride = self.spec.time_stride
        rows = self._read("tensor", sample, slice(start * stride, (stop - 1) * stride + 1, stride))
        return self._finite(rows, "u", sample, start)

    def field(self, sample: int, name: str) -> np.ndarray:
        """Returns one field of a steady problem, `a` (the coefficient) or `u` (the solution): (*grid, C)."""
        if self.spec.kind != "steady" or name not in self.spec.fields:
            raise DataError(f"{self.spec.task} has no field '{name}' by sample: {self.spec.path}")
        self._check_range("sample", sample, sample + 1, self.spec.samples)
        values = self._read("nu", sample, None) if name == "a" else self._read("tensor", sample, 0)
        checked: np.ndarray = self._finite(values[None], name, sample, 0)[0]
        return checked

    def close(self) -> None:
        """Closes the file in this process; the next read opens it again."""
        if self._file is not None:
            self._file.close()
        self._file, self._pid = None, -1

    def _open(self) -> Any:
        if self._pid != os.getpid():
            # After a fork the handle is the parent's: its close here leaves the parent's own open,
            # and without it HDF5 would hand out the same descriptor with a shared read position.
            self.close()
            self._file, self._pid = hdf5.open_for_reading(self.spec.path), os.getpid()
            grouped = trajectories.grouped(self._file, equation(self.spec.task))
            self._groups = trajectories.sample_groups(self._file) if grouped else []
        return self._file

    def _read(self, name: str, sample: int, inside: int | slice | None) -> np.ndarray:
        try:
            file = self._open()
            if isinstance(inside, slice):
                values = trajectories.rows(file, self._groups, sample, inside)
            else:
                values = file[name][sample if inside is None else (sample, inside)]
        except OSError as error:
            raise hdf5.unreadable(self.spec.path, error) from error
        # Whole rows are read and thinned out here: HDF5 walks a strided row element by element.
        species = (slice(None),) if self.spec.channels > 1 else ()
        every = (..., *(slice(None, None, self.spec.space_stride),) * len(self.spec.grid), *species)
        return np.ascontiguousarray(values[every], dtype=np.float32)

    def _finite(self, rows: np.ndarray, name: str, sample: int, start: int) -> np.ndarray:
        if not np.isfinite(rows).all():
            row = int(np.argmin(np.isfinite(rows).reshape(len(rows), -1).all(axis=1)))
            place = f"sample {sample}" + (f", frame {start + row}" if self.spec.kind == "trajectory" else "")
            raise DataError(
                f"{self.spec.path}: field '{name}' holds NaN or infinite values in {place}",
                hint=f"find all of them: ups data info {self.spec.path} --full; training on them ends in NaN",
            )
        return rows if self.spec.channels > 1 else rows[..., None]

    def _check_range(self, what: str, start: int, stop: int, count: int) -> None:
        if not 0 <= start < stop <= count:
            asked = f"{start}" if stop == start + 1 else f"{start} to {stop - 1}"
            raise DataError(f"{self.spec.path}: {what} {asked} was asked for, there are {what}s 0 to {count - 1}")

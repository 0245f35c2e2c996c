"""Writes PDEBench's HDF5 layout piece by piece, under a temporary name until the last piece is in.

Whatever ends the program, nothing stands under the final name that is not whole.
"""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from ups.data.pde.equations import Equation
from ups.errors import UpsError, from_os_error

# Header, attributes and coordinates beside the fields: far less, whatever the resolution.
HEADER_BYTES = 1 << 16


class PdebenchFile:
    """An open file of one equation, made by `new_file`."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def write(self, first: int, fields: Mapping[str, np.ndarray]) -> None:
        """Writes the samples from `first` on: dataset name -> (samples, ...)."""
        for name, values in fields.items():
            self._file[name][first : first + len(values)] = values


@contextmanager
def new_file(
    path: Path,
    found: Equation,
    *,
    samples: int,
    coordinates: Mapping[str, np.ndarray],
    parameter: float,
    attributes: Mapping[str, Any],
    beside: Mapping[str, str] = {},
) -> Iterator[PdebenchFile]:
    """Yields a file to write `samples` into; it appears as `path` when the block ends without an error.

    `coordinates` are `x` (and `y`) and, for trajectories, `t`, one longer than the frames. `beside` names datasets
    that PDEBench has not, each with the one whose shape it has. Raises UpsError, before a byte is written, where the
    disk has no room.
    """
    shapes = field_shapes(found, samples, coordinates)
    shapes |= {name: shapes[like] for name, like in beside.items()}
    temporary = path.with_name(f".{path.name}.partial-{socket.gethostname()}-{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(path)
        _require_space(path, shapes)
        with _created(temporary) as file:
            for name, shape in shapes.items():
                file.create_dataset(name, shape=shape, dtype=np.float32)
            for name, values in coordinates.items():
                file.create_dataset(f"{name}-coordinate", data=np.asarray(values, dtype=np.float32))
            file.attrs[found.PARAMETER] = float(parameter)
            file.attrs.update(dict(attributes))
            yield PdebenchFile(file)
        temporary.replace(path)
    except OSError as error:
        raise from_os_error(error, action="cannot write the data file", path=path) from error
    finally:
        with suppress(OSError):  # a read-only disk refuses that of what is not there, too
            temporary.unlink(missing_ok=True)


def field_shapes(found: Equation, samples: int, coordinates: Mapping[str, np.ndarray]) -> dict[str, tuple[int, ...]]:
    """Returns the shape of each dataset that holds fields."""
    grid = tuple(len(coordinates[axis]) for axis in found.AXES)
    if found.KIND == "trajectory":
        species = (found.CHANNELS,) if found.CHANNELS > 1 else ()
        return {"tensor": (samples, len(coordinates["t"]) - 1, *grid, *species)}
    return {"nu": (samples, *grid), "tensor": (samples, 1, *grid)}


@contextmanager
def _created(temporary: Path) -> Iterator[Any]:
    import h5py  # here and not above: reading a configuration must not wait for it

    with h5py.File(temporary, "w") as file:
        yield file
        file.flush()
    with temporary.open("rb") as written:
        os.fsync(written.fileno())


def _require_space(path: Path, shapes: Mapping[str, tuple[int, ...]]) -> None:
    needed = HEADER_BYTES + sum(4 * int(np.prod(shape)) for shape in shapes.values())
    free = shutil.disk_usage(path.parent).free
    if needed > free:
        raise UpsError(
            f"{path} needs {needed / 2**20:.1f} MiB, {path.parent} has {free / 2**20:.1f} MiB free",
            hint=f"free some space (df -h {path.parent}), or choose fewer samples, frames or cells",
        )


def _remove_leftovers(path: Path) -> None:
    """Removes what an earlier program of this machine left when it was killed."""
    prefix = f".{path.name}.partial-{socket.gethostname()}-"
    for leftover in path.parent.glob(f"{prefix}*"):
        pid = leftover.name.removeprefix(prefix)
        if pid.isdigit() and not psutil.pid_exists(int(pid)):
            leftover.unlink(missing_ok=True)

"""A NumPy array file (.npy) that is cut off or holds pickled objects.

What it does: reads the text header of a .npy file and compares the size it promises with the file's.
An array has no device tag; an array of objects is a pickle inside and is reported.

Why it matters: a memory map over a file that was cut off ends the process with a bus error when the
missing part is touched, in whichever worker gets there first.

Bad:

    np.save("z_in.npy", latents)              # the disk is full after half of it

Good:

    np.save("z_in.npy.tmp.npy", latents); os.replace("z_in.npy.tmp.npy", "z_in.npy")

Fix: make the file again; save objects in another form than pickle.
"""

from __future__ import annotations

from diagnostics.cache.file_bytes import FileBytes
from diagnostics.cache.file_scan import FileScan, Problem, Tally, TensorFact
from diagnostics.cache.formats.numpy_header import (
    MAGIC,
    MAX_HEADER_BYTES,
    PREFIX_BYTES,
    ArrayHeader,
    HeaderError,
    read_header,
)
from diagnostics.core.findings import Severity

CODE = "C103"
NAME = "numpy-array"
FORMAT = "npy"
ENDINGS = (".npy",)
PAGE_BYTES = 4096


def recognise(head: bytes, tail: bytes) -> bool:
    """Begins with NumPy's magic string."""
    return head.startswith(MAGIC)


def scan(file: FileBytes) -> FileScan:
    """Returns the array's type and size and what is wrong with it; never raises for what the file contains."""
    try:
        header = read_header(file.head(MAX_HEADER_BYTES + PREFIX_BYTES), file.size)
    except HeaderError as error:
        name = "truncated-file" if error.truncated else "corrupt-file"
        problem = Problem(name=name, observed=str(error), expected="a whole .npy array of numbers")
        return FileScan(path=file.path, size=file.size, code=CODE, format=FORMAT, problems=(problem,))
    held = min(header.bytes, file.size - header.data_at)
    tally = {"storages": 1, "bytes": held}
    return FileScan(
        path=file.path,
        size=file.size,
        code=CODE,
        format=FORMAT,
        devices={"cpu": Tally(**tally)},
        dtypes={header.element.name: Tally(**tally)},
        tensors=1,
        facts=(TensorFact(key="", dtype=header.element.name, shape=header.shape, bytes=held, storage_bytes=held),),
        problems=tuple(_problems(file, header)),
    )


def _problems(file: FileBytes, header: ArrayHeader) -> list[Problem]:
    end = header.data_at + header.bytes
    if header.element.pickled:
        observed = "an array of objects: loading it would unpickle them"
        return [Problem(name="unsafe-pickle", observed=observed, expected="a whole .npy array of numbers")]
    if file.size < end:
        expected = f"{end} bytes for shape {header.shape}"
        return [Problem(name="truncated-file", observed=f"{file.size} bytes", expected=expected)]
    # Several arrays saved one after the other into one file are a documented use.
    if file.size - end > PAGE_BYTES and file.read(end, len(MAGIC)) != MAGIC:
        return [
            Problem(
                name="trailing-data",
                observed=f"{file.size} bytes, {file.size - end} of them after the array",
                expected=f"{end} bytes for shape {header.shape}",
                place=f"byte {end}",
                severity=Severity.WARNING,
            )
        ]
    return []

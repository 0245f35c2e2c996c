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

import ast
import math
import re

from diagnostics.caches.file_bytes import FileBytes
from diagnostics.caches.file_scan import FileScan, Problem, Tally

CODE = "C103"
NAME = "numpy-array"
FORMAT = "npy"
ENDINGS = (".npy",)
MAGIC = b"\x93NUMPY"
MAX_HEADER_BYTES = 10_000  # numpy's own limit
KINDS = {"f": "float", "i": "int", "u": "uint", "c": "complex", "b": "bool", "S": "bytes", "U": "text", "V": "void"}


def recognise(head: bytes, tail: bytes) -> bool:
    """Begins with NumPy's magic string."""
    return head.startswith(MAGIC)


def scan(file: FileBytes) -> FileScan:
    """Returns the array's type and size and what is wrong with it; never raises for what the file contains."""
    head = file.head(MAX_HEADER_BYTES + 12)
    wide = len(head) > 6 and head[6] >= 2  # versions 2 and 3 have a header length of 4 bytes
    begin = 12 if wide else 10
    end = begin + int.from_bytes(head[8:begin], "little")
    if len(head) < begin or end > len(head):
        return _damaged(file, "truncated-file" if file.size < end else "corrupt-file", "the header is cut off")
    match _header(head[begin:end]):
        case {"descr": str(descr), "shape": tuple(shape)} if all(type(n) is int and n >= 0 for n in shape):
            return _array(file, descr, shape, end)
        case {"descr": list(), "shape": tuple()}:
            return FileScan(path=file.path, size=file.size, code=CODE, format=FORMAT, tensors=1)
        case _:
            return _damaged(file, "corrupt-file", "the header is no dictionary of descr and shape")


def _header(text: bytes) -> object:
    try:
        return ast.literal_eval(text.decode("latin1").strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _array(file: FileBytes, descr: str, shape: tuple[int, ...], data_at: int) -> FileScan:
    match = re.fullmatch(r"[<>|=]?([fiucbSUVmM?O])(\d{0,9})(\[.*\])?", descr)
    if match is None:
        return _damaged(file, "corrupt-file", f"unknown type {descr[:40]!r}")
    kind, width = match[1], int(match[2] or 1) * (4 if match[1] == "U" else 1)
    if kind == "O":
        return _damaged(file, "unsafe-pickle", "an array of objects: loading it would unpickle them")
    needed = data_at + width * math.prod(shape)
    problems: tuple[Problem, ...] = ()
    if file.size < needed:
        cut = Problem(
            name="truncated-file", observed=f"{file.size} bytes", expected=f"{needed} bytes for shape {shape}"
        )
        problems = (cut,)
    tally = Tally(storages=1, bytes=min(needed, file.size) - data_at)
    dtype = KINDS.get(kind, kind) + (str(8 * width) if kind in "fiuc" else "")
    return FileScan(
        path=file.path,
        size=file.size,
        code=CODE,
        format=FORMAT,
        devices={"cpu": tally},
        dtypes={dtype: tally},
        tensors=1,
        problems=problems,
    )


def _damaged(file: FileBytes, name: str, observed: str) -> FileScan:
    problem = Problem(name=name, observed=observed, expected="a whole .npy array of numbers")
    return FileScan(path=file.path, size=file.size, code=CODE, format=FORMAT, problems=(problem,))

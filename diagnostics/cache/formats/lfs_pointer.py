"""A Git LFS pointer where a cache file should be.

What it does: recognises the three lines of text that Git LFS keeps in place of a large file, under the name of
a tensor or array file.

Why it matters: a clone or a CI checkout without LFS has only these lines; a loader that opens one fails with a
message about pickles or zip archives. The file itself may be in order: this is a warning.

Bad:

    actions/checkout@v4 without `lfs: true`, then python train.py

Good:

    git lfs pull, then python train.py

Fix: fetch the content: `git lfs pull`.
"""

from __future__ import annotations

from diagnostics.cache.file_bytes import FileBytes
from diagnostics.cache.file_scan import FileScan, Problem
from diagnostics.core.findings import Severity

CODE = "C123"
NAME = "lfs-pointer"
FORMAT = "Git LFS pointer"
ENDINGS = ()
MEANINGS = {NAME: "are pointers of Git LFS: their content was not fetched"}
REMEDIES = {NAME: "fetch the content: git lfs pull"}
# Source: https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md
BEGINS, MAX_BYTES = b"version https://git-lfs.github.com/spec/v1\n", 1024
TENSOR_ENDINGS = (".pt", ".pth", ".ckpt", ".bin", ".safetensors", ".npy", ".npz", ".h5", ".hdf5", ".distcp")


def recognise(head: bytes, tail: bytes) -> bool:
    """Begins with the version line of a pointer."""
    return head.startswith(BEGINS) and len(head) < MAX_BYTES


def scan(file: FileBytes) -> FileScan:
    """Returns a warning under the name of a tensor file; skipped under any other."""
    if not file.path.lower().endswith(TENSOR_ENDINGS):
        return FileScan(path=file.path, size=file.size, skipped="a Git LFS pointer")
    problem = Problem(
        name=NAME,
        observed=f"{file.size} bytes of text that stand for the file",
        expected="the file itself",
        severity=Severity.WARNING,
    )
    return FileScan(path=file.path, size=file.size, code=CODE, format=FORMAT, problems=(problem,))

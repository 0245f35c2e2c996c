"""A cache's manifest that its files no longer agree with.

What it does: reads a JSON manifest that names files with their sizes in bytes (`{"files": {"train_u.npy":
16512}}`, as the latent cache of `ups` has it) and looks whether each is there in that size. Where the manifest
gives types and shapes, the headers of its `.npy` arrays are compared with them, and cache files beside it that
it does not name are told. Other programs' manifests are left out.

Why it matters: a cache is encoded by one encoder from one data file, and the manifest alone says by which. A
file that was cut, replaced by that of another build, or copied only in part trains a model on wrong latents
without a word, or ends the run in the middle of an epoch.

Bad:

    rsync -a run1/cache/train_u.npy run2/cache/     # latents of another encoder under run2's manifest

Good:

    ups cache build CONFIG --rebuild

Fix: `ups cache repair CONFIG` encodes again what is missing or cut; `ups cache build CONFIG --rebuild` everything.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from diagnostics.cache.file_bytes import DamagedFileError, FileBytes
from diagnostics.cache.file_scan import FileScan, Problem, shown_names
from diagnostics.cache.formats.named_files import leads_out, size_of
from diagnostics.cache.formats.numpy_header import MAX_HEADER_BYTES, PREFIX_BYTES, HeaderError, read_header
from diagnostics.core.findings import Severity

CODE = "C110"
NAME = "cache-manifest"
FORMAT = "cache manifest"
ENDINGS = ()
PART_OF_SEVERAL = True
MEANINGS = {
    "manifest-mismatch": "are manifests whose files are missing or have another size",
    "stale-cache": "are manifests whose arrays belong to another build of the cache",
    "unlisted-file": "are manifests beside cache files that they do not name",
    "unsafe-path": "are manifests that name files outside their own folder",
    "not-examined": "are manifests too large to be examined here",
}
REMEDIES = {
    "manifest-mismatch": "encode again what is missing or cut (`ups cache repair CONFIG`), or copy it again",
    "stale-cache": "build the cache again: `ups cache build CONFIG --rebuild`",
    "unlisted-file": "move them out of the cache's folder: nothing reads them there",
    "unsafe-path": "do not use them unless you know who wrote them: the paths lead out of the folder",
    "not-examined": "let `ups cache info CONFIG` read them",
}
# Memory is bounded by what may be parsed: a list takes 30 times its text, a number 10 times.
MAX_BYTES, MAX_BRACKETS, MAX_ITEMS = 16 << 20, 100_000, 1_000_000
MAX_NEIGHBOURS = 200_000  # entries of the folder
OURS = ("format", "encoder", "normalisation", "dtype", "splits", "shapes", "files")
CACHE_ENDINGS = (".npy", ".npz", ".pt", ".pth", ".safetensors", ".h5", ".hdf5", ".shard")


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is used of it. `ours` tells the latent cache of ups from any other table of files and sizes."""

    files: Mapping[str, int]
    shapes: Mapping[str, tuple[int, ...]]
    dtype: str
    ours: bool


def recognise(head: bytes, tail: bytes) -> bool:
    """Begins as a JSON object and has a key of files and sizes, or those of our own near its beginning."""
    return head[:1] == b"{" and (
        b'"files"' in head or b'"files"' in tail or (b'"encoder"' in head and b'"normalisation"' in head)
    )


def scan(file: FileBytes) -> FileScan:
    """Returns what its files lack; skipped where it is another kind of JSON. Never raises for the content."""
    other = FileScan(path=file.path, size=file.size, skipped="not a cache format known here")
    try:
        text = file.read(0, file.size) if file.size <= MAX_BYTES else b""
    except DamagedFileError:
        return other
    ours = all(f'"{key}"'.encode() in file.head() for key in ("encoder", "normalisation"))
    if not text or text.count(b"[") + text.count(b"{") > MAX_BRACKETS or text.count(b",") > MAX_ITEMS:
        return _found(file, [_not_examined(file)]) if ours else other
    try:
        manifest = _manifest(json.loads(text))
    except (ValueError, RecursionError) as error:
        return _found(file, [_no_json(error)]) if ours else other
    folder = os.path.dirname(file.path)  # noqa: PTH120 - a Path for each file costs a third of the scan
    sizes = {name: size_of(folder, name) for name in manifest.files} if manifest is not None else {}
    if manifest is None or not (manifest.ours or _speaks_of_its_folder(manifest, sizes)):
        return other
    return _found(file, list(_problems(folder, manifest, sizes)))


def _manifest(content: object) -> Manifest | None:
    match content:
        case {"files": dict(files), **rest} if files and all(_is_size(size) for size in files.values()):
            dtype = rest.get("dtype")
            return Manifest(
                files=files,
                shapes=dict(_shapes(rest.get("shapes"))),
                dtype=dtype if isinstance(dtype, str) else "",
                ours={*OURS} <= {"files", *rest},
            )
    return None


def _is_size(value: object) -> bool:
    return type(value) is int and value >= 0


def _shapes(shapes: object) -> Iterator[tuple[str, tuple[int, ...]]]:
    for name, shape in shapes.items() if isinstance(shapes, dict) else ():
        if isinstance(shape, list) and all(map(_is_size, shape)):
            yield name.removesuffix(".npy"), tuple(shape)


def _speaks_of_its_folder(manifest: Manifest, sizes: Mapping[str, int | None]) -> bool:
    """Whether the numbers are sizes of cache files here: a foreign table of names and numbers is not judged."""
    right = sum(sizes[name] == size for name, size in manifest.files.items())
    caches = sum(name.endswith(CACHE_ENDINGS) for name in manifest.files)
    return 2 * right >= len(manifest.files) and 2 * caches >= len(manifest.files)


def _problems(folder: str, manifest: Manifest, sizes: Mapping[str, int | None]) -> Iterator[Problem]:
    out = [name for name in manifest.files if leads_out(name)]
    if out:
        shown = f"{len(out)} paths lead out of the folder: {shown_names(out)}; none was opened"
        yield Problem(name="unsafe-path", observed=shown, expected="names of files beside it", place="files")
    wrong = [name for name, size in manifest.files.items() if sizes[name] != size and not leads_out(name)]
    if wrong:
        first, found = wrong[0], sizes[wrong[0]]
        seen = "is missing" if found is None else f"has {found} bytes, not {manifest.files[first]}"
        more = f"; also {shown_names(wrong[1:])}" if wrong[1:] else ""
        observed = f"{len(wrong)} of {len(manifest.files)} files: {shown_names([first])} {seen}{more}"
        yield Problem(name="manifest-mismatch", observed=observed, expected="the sizes it was built with")
    yield from _arrays_of_another_build(folder, manifest, frozenset(wrong))
    if manifest.ours and (strangers := sorted(_neighbours(folder) - {*manifest.files})):
        observed = f"{len(strangers)} cache files that it does not name: {shown_names(strangers)}"
        yield Problem(name="unlisted-file", observed=observed, severity=Severity.WARNING)


def _arrays_of_another_build(folder: str, manifest: Manifest, wrong: frozenset[str]) -> Iterator[Problem]:
    different = []
    for name in manifest.files:
        wanted = manifest.shapes.get(name.removesuffix(".npy"))
        if name.endswith(".npy") and wanted is not None and name not in wrong and not leads_out(name):
            dtype, shape = _array(f"{folder or '.'}/{name}")
            if (dtype, shape) != (manifest.dtype or dtype, wanted) and dtype:
                different.append(f"{shown_names([name])} is {dtype} {shape}, not {manifest.dtype or dtype} {wanted}")
    if different:
        more = f", and {len(different) - 1} more" if different[1:] else ""
        yield Problem(name="stale-cache", observed=different[0] + more, expected="the arrays it was built with")


def _array(path: str) -> tuple[str, tuple[int, ...]]:
    """Returns the type and shape that an array's header gives; nothing where it has none, which C103 tells."""
    try:
        with FileBytes(path) as file:
            header = read_header(file.head(MAX_HEADER_BYTES + PREFIX_BYTES), file.size)
    except (OSError, HeaderError):
        return "", ()
    return header.element.name, header.shape


def _neighbours(folder: str) -> set[str]:
    names = set()
    try:
        with os.scandir(folder or ".") as entries:
            for count, entry in enumerate(entries):
                if count >= MAX_NEIGHBOURS:
                    break
                if entry.name.endswith(CACHE_ENDINGS) and ".tmp" not in entry.name:
                    names.add(entry.name)
    except OSError:
        return set()  # the scan of the folder itself tells why
    return names


def _not_examined(file: FileBytes) -> Problem:
    observed, expected = f"{file.size:,} bytes of JSON", f"up to {MAX_BYTES:,} with {MAX_ITEMS:,} values"
    return Problem(name="not-examined", observed=observed, expected=expected, severity=Severity.WARNING)


def _no_json(error: Exception) -> Problem:
    return Problem(name="corrupt-file", observed=f"it is no JSON: {str(error)[:100]}", expected="a whole manifest")


def _found(file: FileBytes, problems: list[Problem]) -> FileScan:
    return FileScan(path=file.path, size=file.size, code=CODE, format=FORMAT, problems=tuple(problems))

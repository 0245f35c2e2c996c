"""A torch file (zip archive) that holds device tags, is cut off, or would run code.

What it does: reads the archive's directory and its small `data.pkl` of files that `torch.save` wrote since
torch 1.6 (.pt, .pth, .bin, recognised by content). The pickle's opcodes are read as data: nothing is
unpickled, no tensor is touched, torch is not imported.

Why it matters: a tensor saved from a GPU carries the tag `cuda:0`. On a machine without that GPU
`torch.load` raises, and in forked loader workers it ends them without a word. A pickle can also call
any function when it is loaded. A file that was cut off by a full disk fails hours later, in mid-epoch.

Bad:

    torch.save({"latent": latent}, "sample_00017.pt")        # latent lives on cuda:0

Good:

    torch.save({"latent": latent.cpu()}, "sample_00017.pt")

Fix: `ups-doctor fix-cache PATH` rewrites the tags to `cpu` without reading a tensor; make cut-off files again;
do not load a file that names a callable you do not know. Files of torch 1.4's trial format (its storages are
members `tensors/...`) are read by torch 1.4 alone: load them there and save them in the default format.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from diagnostics.cache.archives.zip_directory import LOCAL, first_name, read_member
from diagnostics.cache.archives.zip_directory import deep as deep
from diagnostics.cache.archives.zip_layout import Layout, other_local_name, read_layout
from diagnostics.cache.file_bytes import DamagedFileError, FileBytes
from diagnostics.cache.file_scan import FileScan, Problem
from diagnostics.cache.pickles.facts import PickleFacts
from diagnostics.cache.pickles.templates import KNOWN
from diagnostics.cache.pickles.walk import MalformedPickleError
from diagnostics.cache.rewriting.torch_zip import repair as repair  # part of this plugin's contract
from diagnostics.cache.storages import StorageTag

CODE = "C101"
NAME = "torch-zip"
FORMAT = "torch zip"
ENDINGS = (".pt", ".pth", ".ckpt")
MAX_PICKLE_BYTES = 32 << 20  # some 300,000 tensors
OTHER_MEMBER = re.compile(rb"[^/]+/(data/\d+|byteorder|\.format_version|\.storage_alignment|\.data/serialization_id)")
STORAGE = re.compile(r"(.+/)?data/\d+")
MAX_SHARED_STORAGES = 16_384


def recognise(head: bytes, tail: bytes) -> bool:
    """A zip archive whose first members or directory name a `data.pkl`, or whose first member is another of torch's."""
    if not head.startswith(LOCAL):
        return False
    # A compacted file may have its pickle behind all tensors, and a directory longer than the tail.
    return b"/data.pkl" in head or b"/data.pkl" in tail or OTHER_MEMBER.fullmatch(first_name(head)) is not None


def scan(file: FileBytes) -> FileScan:
    """Returns what the archive holds and what is wrong with it; never raises for what the file contains."""
    try:
        return _scan(file)
    except MalformedPickleError as error:
        problem = Problem(name="corrupt-file", observed=str(error), expected="a whole pickle", place="data.pkl")
    except DamagedFileError as error:
        name = "truncated-file" if error.truncated else "corrupt-file"
        problem = Problem(name=name, observed=str(error), expected="a whole zip archive", place=error.place)
    return FileScan(path=file.path, size=file.size, code=CODE, format=FORMAT, problems=(problem,))


def _scan(file: FileBytes) -> FileScan:
    directory = read_layout(file)
    layout, folder = directory.layout, directory.folder
    if layout.pickle is None:
        if _of_something_else(file.path, layout):
            return FileScan(path=file.path, size=file.size, skipped="not a cache format known here")
        raise DamagedFileError("no member data.pkl in the archive's directory")
    if "constants.pkl" in layout.sizes:
        return FileScan(
            path=file.path, size=file.size, code=CODE, format="torchscript", skipped="a TorchScript program"
        )
    facts = KNOWN.told(read_member(file, layout.pickle, MAX_PICKLE_BYTES))
    problems = [*layout.problems, *other_local_name(file, layout.pickle, f"{folder}data.pkl")]
    if facts.problems:
        problems[:0] = facts.problems_of(f"{folder}data.pkl")
    if not _complete(facts, layout):
        problems += _missing_storages(facts.storages, layout.sizes, folder)
    return FileScan(
        path=file.path,
        size=file.size,
        code=CODE,
        format=FORMAT,
        devices=facts.devices,
        dtypes=facts.dtypes,
        tensors=facts.tensors,
        facts=facts.facts,
        content=directory.content,
        problems=tuple(problems),
    )


def _of_something_else(path: str, layout: Layout) -> bool:
    """Whether the archive is a torch.export program (.pt2), or files of torch that somebody put into a zip archive."""
    if "archive_format" in layout.sizes:
        return True
    return not path.lower().endswith(ENDINGS) and not any(STORAGE.fullmatch(name) for name in layout.sizes)


def _complete(facts: PickleFacts, layout: Layout) -> bool:
    """Whether all storages are there in full; asked once for all files of the same pickle and the same layout."""
    known = layout.complete.get(facts)
    if known is None:
        known = not _missing_storages(facts.storages, layout.sizes, "")
        if len(facts.storages) <= MAX_SHARED_STORAGES:
            layout.remember(facts, known)
    return known


def _missing_storages(storages: tuple[StorageTag, ...], sizes: Mapping[str, int], folder: str) -> list[Problem]:
    short = [
        (tag, sizes.get(f"data/{tag.key}"))
        for tag in storages
        if tag.location != "meta" and sizes.get(f"data/{tag.key}", -1) < tag.bytes
    ]
    if not short:
        return []
    if all(sizes.get(f"tensors/{tag.key}", -1) >= tag.bytes for tag, _ in short):
        return [_of_torch_1_4(len(short), folder)]
    tag, size = short[0]
    held = "is missing" if size is None else f"holds {size} bytes"
    return [
        Problem(
            name="corrupt-file",
            observed=f"{len(short)} of {len(storages)} storages incomplete: {folder}data/{tag.key} {held}",
            expected=f"{tag.bytes} bytes ({tag.numel} x {tag.dtype})",
            place=f"{folder}data/{tag.key}",
        )
    ]


def _of_torch_1_4(storages: int, folder: str) -> Problem:
    return Problem(
        name="outdated-format",
        observed=f"{storages} storages are members {folder}tensors/..., as torch 1.4 alone wrote and reads them",
        expected=f"members {folder}data/..., as torch writes them since 1.5",
        place=f"{folder}tensors/",
    )

"""A torch file of the old, non-zip format that holds device tags, is cut off, or would run code.

What it does: reads files that `torch.save` wrote before torch 1.6, or since then with
`_use_new_zipfile_serialization=False`: five pickles, then the storages' bytes. The pickles' opcodes are
read as data: nothing is unpickled, no tensor is touched, torch is not imported.

Why it matters: the same as for C101; and an old file that was cut off looks whole until its last
storage is read.

Bad:

    torch.save({"latent": latent}, path, _use_new_zipfile_serialization=False)   # latent lives on cuda:0

Good:

    torch.save({"latent": latent.cpu()}, path)

Fix: `ups-doctor fix-cache PATH` rewrites the tags to `cpu` in a copy that takes the file's place when it is whole.

The five pickles with which a torch file of the old format begins.
"""

from __future__ import annotations

from diagnostics.cache.file_bytes import FileBytes
from diagnostics.cache.file_scan import FileScan, Problem
from diagnostics.cache.pickles.facts import facts_of
from diagnostics.cache.pickles.legacy import MAGIC, walk_legacy
from diagnostics.cache.pickles.walk import MalformedPickleError, PickleWalk
from diagnostics.cache.rewriting.torch_legacy import repair as repair  # part of this plugin's contract

CODE = "C102"
NAME = "torch-legacy"
FORMAT = "torch legacy"
ENDINGS = ()
FIRST_READ, MAX_PICKLE_BYTES = 64 << 10, 32 << 20


def recognise(head: bytes, tail: bytes) -> bool:
    """Begins with torch's magic number, pickled."""
    return head.startswith(MAGIC)


def scan(file: FileBytes) -> FileScan:
    """Returns what the file holds and what is wrong with it; never raises for what the file contains."""
    try:
        walk = _walk(file)
    except MalformedPickleError as error:
        cut = error.truncated and file.size <= MAX_PICKLE_BYTES
        name = "truncated-file" if cut else "corrupt-file"
        problem = Problem(name=name, observed=str(error), expected="five whole pickles")
        return FileScan(path=file.path, size=file.size, code=CODE, format=FORMAT, problems=(problem,))
    facts = facts_of(walk)
    return FileScan(
        path=file.path,
        size=file.size,
        code=CODE,
        format=FORMAT,
        devices=facts.devices,
        dtypes=facts.dtypes,
        tensors=facts.tensors,
        facts=facts.facts,
        problems=(*facts.problems_of("object pickle"), *_cut_off(file, walk)),
    )


def _walk(file: FileBytes) -> PickleWalk:
    for limit in (FIRST_READ, MAX_PICKLE_BYTES):
        try:
            return walk_legacy(file.head(limit))
        except MalformedPickleError:
            if limit == MAX_PICKLE_BYTES or file.size <= limit:
                raise
    raise AssertionError("unreachable: the last limit raises")


def _cut_off(file: FileBytes, walk: PickleWalk) -> list[Problem]:
    # Each storage is its element count in 8 bytes, then its elements; one key may be named by many views.
    elements = {tag.key: tag for tag in walk.storages.values()}.values()
    needed = walk.at + sum(8 + tag.bytes for tag in elements)
    if file.size >= needed:
        return []
    return [
        Problem(
            name="truncated-file",
            observed=f"{file.size} bytes",
            expected=f"{needed} bytes for {len(elements)} storages",
            place=f"byte {file.size}",
        )
    ]

"""A part of a distributed checkpoint (.distcp) that holds device tags, is cut off, or would run code.

What it does: finds the pieces that `torch.distributed.checkpoint` wrote one after the other, each a small torch
archive of its own, by the end record of each, and reads the pickle of every piece as data: nothing is
unpickled, no tensor is touched. Compressed pieces are not looked into.

Why it matters: tensors are moved to the CPU before they are saved, but objects that contain tensors (an
optimizer's own state, a data loader's) are pickled with the tag of their GPU and fail to load without it.
A part that was cut off is noticed when its rank reads it, while the other ranks wait.

Bad:

    dcp.save({"model": model.state_dict(), "loader": loader_state_with_cuda_tensors}, checkpoint_id=folder)

Good:

    dcp.save({"model": model.state_dict(), "loader": loader_state_on_the_cpu}, checkpoint_id=folder)

Fix: `ups-doctor fix-cache` for device tags; resume from the checkpoint before where a part is damaged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

from diagnostics.cache.archives.concatenated_zips import (
    Piece,
    TooManyPiecesError,
    archive_before,
    ends_with_archive,
    from_end,
    from_start,
    piece_bytes,
)
from diagnostics.cache.archives.zip_directory import ZipMember, read_directory, read_member
from diagnostics.cache.file_bytes import DamagedFileError, FileBytes
from diagnostics.cache.file_scan import HARMLESS_DEVICES, FileScan, Problem, by_device, by_dtype, device_problems
from diagnostics.cache.formats.dcp_pickle import items_of, walk_metadata
from diagnostics.cache.pickles.facts import PickleFacts, facts_of
from diagnostics.cache.pickles.opcodes import walk_pickle
from diagnostics.cache.rewriting.dcp import repair as repair  # part of this plugin's contract
from diagnostics.cache.storages import StorageTag
from diagnostics.core.findings import Severity

CODE = "C107"
NAME = "distributed-checkpoint"
FORMAT = "torch distributed"
ENDINGS = (".distcp",)
PART_OF_SEVERAL = True
SPECIAL_CASE_OF = "C101"  # its first piece is a torch zip file
MAY_BE_EMPTY = True  # a rank, or a thread of it, that had nothing to save
MEANINGS = {"not-examined": "have too many pieces to be examined here"}
REMEDIES = {"not-examined": "load the checkpoint once; loading reads every piece"}
ZSTD = b"\x28\xb5\x2f\xfd"
MAX_PICKLE_BYTES = 32 << 20
MAX_METADATA_BYTES = 8 << 20  # read for the names of what is wrong
MAX_STORAGES = 200_000


def recognise(head: bytes, tail: bytes) -> bool:
    """Begins with a compressed stream, which the experimental zstd extension writes."""
    return head.startswith(ZSTD)


def claims(file: FileBytes) -> bool:
    """Whether a file that begins like a torch zip file is a row of them, or bears the name of one."""
    if file.path.endswith(".distcp"):
        return True
    piece = archive_before(file, file.size)
    return piece is not None and piece.begin > 0 and archive_before(file, piece.begin) is not None


def scan(file: FileBytes) -> FileScan:
    """Returns what the pieces hold and what is wrong with them; never raises for what the file contains."""
    if file.read(0, 4) == ZSTD:
        return FileScan(path=file.path, size=file.size, code=CODE, format=FORMAT, skipped="compressed with zstd")
    found = Contents()
    try:
        for piece in _pieces(file):
            found.add(file, piece)
    except DamagedFileError as error:
        found.note(_damage(error))
    return FileScan(
        path=file.path,
        size=file.size,
        code=CODE,
        format=FORMAT,
        devices=by_device(found.storages),
        dtypes=by_dtype(found.storages),
        tensors=found.tensors,
        problems=(*_device_problems(file, found.storages), *found.problems()),
    )


@dataclass(slots=True)
class Contents:
    """What the pieces hold together."""

    storages: list[StorageTag] = field(default_factory=list)
    first: dict[str, Problem] = field(default_factory=dict)  # by name
    pieces: Counter[str] = field(default_factory=Counter)  # that have a problem of the name
    tensors: int = 0

    def add(self, file: FileBytes, piece: Piece) -> None:
        """Takes one piece in; damage to it ends nothing."""
        place = f"piece at byte {piece.begin}"
        try:
            self._read(file, piece, place)
        except DamagedFileError as error:
            observed = f"{error.place}: {error}" if error.place else str(error)
            self.note(Problem(name="corrupt-file", observed=observed, expected="a whole torch archive", place=place))
        if len(self.storages) > MAX_STORAGES:
            raise TooManyPiecesError(f"more than {MAX_STORAGES:,} tensors")

    def _read(self, file: FileBytes, piece: Piece, place: str) -> None:
        view = piece_bytes(file, piece)
        members = read_directory(view)
        pickle = next((member for member in members if member.name.endswith("/data.pkl")), None)
        if pickle is None:
            return  # an archive of something else, saved as bytes
        facts = _facts(read_member(view, pickle, MAX_PICKLE_BYTES))
        self.tensors += facts.tensors
        self.storages += (replace(tag, key=f"{piece.begin}/{tag.key}") for tag in facts.storages)
        for problem in facts.problems_of(f"{place}, data.pkl"):
            if problem.name != "cuda-in-cache":
                self.note(problem)
        _check_sizes(facts.storages, members, pickle.name.removesuffix("data.pkl"))

    def note(self, problem: Problem) -> None:
        """Keeps the first problem of each name, and counts the others."""
        self.first.setdefault(problem.name, problem)
        self.pieces[problem.name] += 1

    def problems(self) -> Iterator[Problem]:
        """Yields one problem a name."""
        for name, problem in self.first.items():
            more = f"; {self.pieces[name] - 1} more pieces like it" if self.pieces[name] > 1 else ""
            yield replace(problem, observed=problem.observed + more)


def _device_problems(file: FileBytes, storages: list[StorageTag]) -> list[Problem]:
    foreign = [tag for tag in storages if tag.location not in HARMLESS_DEVICES]
    if not foreign:
        return []
    names = _names(file)
    keys = {tag: names.get(int(tag.key.partition("/")[0]), "") for tag in foreign}
    return device_problems(foreign, "data.pkl of its piece,", keys)


def _names(file: FileBytes) -> dict[int, str]:
    """Returns the names of the pieces by where they begin, as far as the metadata beside the file has them."""
    folder, _, name = file.path.rpartition("/")
    try:
        with FileBytes(f"{folder or '.'}/.metadata") as metadata:
            if metadata.size > MAX_METADATA_BYTES:
                return {}
            walk = walk_metadata(metadata.read(0, metadata.size))
    except (OSError, DamagedFileError):
        return {}
    return {item.offset: item.key for item in items_of(walk) if item.path == name}


def _pieces(file: FileBytes) -> Iterator[Piece]:
    if ends_with_archive(file):
        yield from from_end(file)
        return
    whole = from_start(file)
    yield from whole
    end = whole[-1].end if whole else 0
    if file.size and not _is_safetensors(file, end):
        raise DamagedFileError(f"it ends within the piece that begins at byte {end}", truncated=True)


def _is_safetensors(file: FileBytes, begin: int) -> bool:
    # With SerializationFormat.SAFETENSORS the tensors follow the pickled objects as one safetensors file.
    if begin + 9 > file.size:
        return False
    head = file.read(begin, 9)
    return head[8:] == b"{" and begin + 8 + int.from_bytes(head[:8], "little") <= file.size


def _damage(error: DamagedFileError) -> Problem:
    if isinstance(error, TooManyPiecesError):
        return Problem(name="not-examined", observed=str(error), severity=Severity.WARNING)
    name = "truncated-file" if error.truncated else "corrupt-file"
    return Problem(name=name, observed=str(error), expected="whole torch archives, end to end", place=error.place)


# Pieces often have the same pickle byte for byte: an object without tensors, moments of one shape.
@lru_cache(maxsize=64)
def _facts_small(data: bytes) -> PickleFacts:
    return facts_of(walk_pickle(data))


def _facts(data: bytes) -> PickleFacts:
    return _facts_small(data) if len(data) <= 1 << 16 else _facts_small.__wrapped__(data)


def _check_sizes(storages: tuple[StorageTag, ...], members: list[ZipMember], root: str) -> None:
    sizes = {member.name: member.size for member in members}
    for tag in storages:
        held = sizes.get(f"{root}data/{tag.key}", -1)
        if tag.location != "meta" and held < tag.bytes:
            observed = "is missing" if held < 0 else f"holds {held} bytes of {tag.bytes}"
            raise DamagedFileError(f"{root}data/{tag.key} {observed}")

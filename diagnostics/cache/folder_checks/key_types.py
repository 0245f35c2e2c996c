"""The types and shapes that one key has in many files, and the few files that differ from the rest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from diagnostics.cache.file_scan import TensorFact
from diagnostics.cache.folder_checks.by_folder import SeenFiles

Shape = tuple[int, ...]
Layout = tuple[tuple[str, str, Shape], ...]  # key, dtype and shape of each tensor of a file
Type = tuple[str, Shape]

MIN_FILES = 10  # fewer say nothing of what is usual
USUAL = 50  # at most one file in so many is odd; more are a second kind
VARIES = 4  # sizes of an axis that make it free
MAX_TYPES = 64  # kept of one key
ANY = -1  # the size of a free axis
MAX_RANK = 16  # axes that are compared


def layout_of(facts: Iterable[TensorFact]) -> Layout:
    """Returns what the files of a series are compared by."""
    return tuple((fact.key, fact.dtype, fact.shape[:MAX_RANK]) for fact in facts)


def few(odd: int, files: int) -> bool:
    """Whether so many of so many files are odd ones out."""
    return files >= MIN_FILES and 0 < odd <= max(1, files // USUAL)


def shown(found: Type) -> str:
    """Returns the type for people: `float32 (*, 64)`, a star where the size varies."""
    dtype, shape = found
    sizes = ", ".join("*" if size == ANY else str(size) for size in shape)
    return f"{dtype} ({sizes}{',' * (len(shape) == 1)})"


@dataclass(frozen=True, slots=True)
class Oddity:
    """What a few files hold, and what the others do."""

    found: Type
    seen: SeenFiles
    usual: Type
    usual_files: int


@dataclass(slots=True)
class KeyTypes:
    """What one key holds in the files of a series, in bounded memory."""

    files: int = 0
    types: dict[Type, SeenFiles] = field(default_factory=dict)
    free: set[tuple[int, int]] = field(default_factory=set)  # (rank, axis) that vary by design
    diverse: bool = False

    def add(self, dtype: str, shape: Shape, seen: SeenFiles) -> None:
        """Takes files that hold the same."""
        self.files += seen.files
        if not self.diverse:
            self.types.setdefault((dtype, self._fixed(shape)), SeenFiles()).add(seen)
            if len(self.types) > MAX_TYPES:
                self._free_axes()

    def odd(self, last: str) -> list[Oddity]:
        """Returns what a few files hold, none where there is no clear majority; `last` is the series' last file."""
        self._free_axes()
        if self.diverse or not self.types:
            return []
        usual, usual_seen = max(self.types.items(), key=lambda item: item[1].files)
        if not few(self.files - usual_seen.files, self.files):
            return []
        return [
            Oddity(found, seen, usual, usual_seen.files)
            for found, seen in self.types.items()
            if found != usual and not _shorter_last(found, seen, usual, last)
        ]

    def _fixed(self, shape: Shape) -> Shape:
        if not self.free:
            return shape
        return tuple(ANY if (len(shape), axis) in self.free else size for axis, size in enumerate(shape))

    def _free_axes(self) -> None:
        sizes: dict[tuple[int, int], set[int]] = {}
        for _, shape in self.types:
            for axis, size in enumerate(shape):
                sizes.setdefault((len(shape), axis), set()).add(size)
        self.free |= {place for place, found in sizes.items() if len(found) >= VARIES}
        merged: dict[Type, SeenFiles] = {}
        for (dtype, shape), seen in self.types.items():
            merged.setdefault((dtype, self._fixed(shape)), SeenFiles()).add(seen)
        self.types, self.diverse = merged, len(merged) > MAX_TYPES


def _shorter_last(found: Type, seen: SeenFiles, usual: Type, last: str) -> bool:
    # Samples that do not fill the last of a series of equal shards.
    (dtype, shape), (usual_dtype, usual_shape) = found, usual
    return (
        seen.names == [last]
        and dtype == usual_dtype
        and len(shape) == len(usual_shape) > 0
        and shape[1:] == usual_shape[1:]
        and shape[0] < usual_shape[0]
    )

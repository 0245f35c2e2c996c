"""The directory of a torch archive, read once for all files of a folder that differ in names and checksums alone.

Files of one cache have directories that are equal but for the folder name in front of each member, the times
and the checksums. So a directory is compared with those that were read before, and only a new one is read
entry by entry.
"""

from __future__ import annotations

import hashlib
import struct
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from diagnostics.cache.archives.zip_directory import ZipMember, directory_place, read_members
from diagnostics.cache.file_bytes import FileBytes
from diagnostics.cache.file_scan import Problem
from diagnostics.cache.pickles.facts import PickleFacts
from diagnostics.core.findings import Severity

MAX_KNOWN = 16
MAX_KNOWN_BYTES = 1 << 20  # of one directory, some 10,000 members
MAX_KEPT_BYTES = 4 << 20  # of all directories that are known
MAX_VERDICTS, MAX_STORAGES = 64, 65_536  # pickles kept with a layout, and their storages
_ENTRY_BYTES, _LOCAL_BYTES = 46, 30


@dataclass(slots=True, eq=False)
class Layout:
    """What files of one directory have in common; names are without the folder in front."""

    pickle: ZipMember | None
    folder: str  # of the pickle, below the folder in front: empty in all that torch wrote
    sizes: Mapping[str, int]
    problems: tuple[Problem, ...]
    checksums: tuple[int, ...] = ()  # which entries' checksums tell the data
    names: bytes = b""  # of these entries, and their sizes
    complete: dict[PickleFacts, bool] = field(default_factory=dict)  # whether all storages of a pickle are there
    storages: int = 0  # of those pickles
    pickle_entry: tuple[int, int] | None = None  # its bytes in the directory, where entries are written back as read

    def remember(self, facts: PickleFacts, complete: bool) -> None:
        """Keeps whether all storages of a pickle are there."""
        if len(self.complete) >= MAX_VERDICTS or self.storages > MAX_STORAGES:
            self.complete.clear()
            self.storages = 0
        self.complete[facts] = complete
        self.storages += len(facts.storages)


@dataclass(frozen=True, slots=True)
class KnownDirectory:
    """A directory that was read: how to take others apart, and what must be the same in them."""

    cut: struct.Struct
    fixed: tuple[tuple[bytes, ...], ...]
    layout: Layout


@dataclass(frozen=True, slots=True)
class Directory:
    """One file's directory: its layout, the folder in front of the names, and a fingerprint of the data."""

    layout: Layout
    root: str
    content: str
    data: bytes  # as they stand in the file, at
    offset: int

    @property
    def folder(self) -> str:
        """Where the pickle and its storages are."""
        return self.root + self.layout.folder


_known: dict[tuple[int, int, int, int], KnownDirectory] = {}

_keeping = threading.Lock()  # a repair reads several files at once


def read_layout(file: FileBytes) -> Directory:
    """Returns the directory at the file's end. Raises DamagedFileError as read_directory does."""
    count, size, offset = directory_place(file)
    data = file.read(offset, size)
    name = data[_ENTRY_BYTES : _ENTRY_BYTES + int.from_bytes(data[28:30], "little")]
    root = name[: name.find(b"/") + 1]
    key = (size, offset, count, len(root))
    known = _known.get(key)
    if known is not None:
        pieces = known.cut.unpack(data)
        same = (pieces[0::5], pieces[2::5], pieces[4::5]) == known.fixed and pieces[3::5].count(root) == count
        if same:
            folder, content = root.decode("utf-8", "replace"), _content(known.layout, pieces[1::5])
            return Directory(known.layout, folder, content, data, offset)
    return _read(data, key, root)


def _read(data: bytes, key: tuple[int, int, int, int], root: bytes) -> Directory:
    _, offset, count, _ = key
    members = read_members(data, count, offset)
    folder = root.decode("utf-8", "replace")
    layout = _layout(members, folder)
    cut = _cut(data, root)
    if cut is not None:
        pieces = cut.unpack(data)
        with _keeping:
            if len(_known) >= MAX_KNOWN or sum(size for size, *_ in _known) + len(data) > MAX_KEPT_BYTES:
                _known.clear()
            _known[key] = KnownDirectory(cut, (pieces[0::5], pieces[2::5], pieces[4::5]), layout)
    return Directory(layout, folder, _content(layout, tuple(member.crc for member in members)), data, offset)


def _cut(data: bytes, root: bytes) -> struct.Struct | None:
    """Returns how to take a directory apart: beginning, checksum, sizes, folder and the rest of each entry."""
    if len(data) > MAX_KNOWN_BYTES:
        return None
    formats, at = ["<"], 0
    while at < len(data):
        name, extra, comment = struct.unpack_from("<3H", data, at + 28)
        if not data.startswith(root, at + _ENTRY_BYTES) or name < len(root):
            return None
        # The four bytes left out are the time of writing.
        formats.append(f"12s4xI26s{len(root)}s{name - len(root) + extra + comment}s")
        at += _ENTRY_BYTES + name + extra + comment
    return struct.Struct("".join(formats))


def _layout(members: list[ZipMember], root: str) -> Layout:
    named = {member.name: member for member in reversed(members)}
    # Torch takes the folder of the first member; where no pickle is in it, any says what the file was to be.
    pickle = named.get(f"{root}data.pkl") or next((m for m in members if m.name.endswith("/data.pkl")), None)
    inside = pickle.name.removesuffix("data.pkl") if pickle is not None else root
    names = [member.name[len(inside) :] if member.name.startswith(inside) else "" for member in members]
    data = sorted((name, index) for index, name in enumerate(names) if name == "data.pkl" or name.startswith("data/"))
    return Layout(
        pickle=pickle,
        folder=inside.removeprefix(root),
        sizes={name: member.size for name, member in zip(names, members, strict=True)},
        problems=tuple(_problems(members, root)),
        checksums=tuple(index for _, index in data if members[index].size),
        names=repr([(name, members[index].size) for name, index in data]).encode(),
    )


def _content(layout: Layout, checksums: tuple[int, ...]) -> str:
    told = [checksums[index] for index in layout.checksums]
    if not told or 0 in told:  # torch can be told not to compute them
        return ""
    return hashlib.blake2b(layout.names + struct.pack(f"<{len(told)}I", *told), digest_size=12).hexdigest()


def _problems(members: list[ZipMember], root: str) -> list[Problem]:
    return [*_same_names(members), *_overlaps(members), *_refused(members, root), *_paths(members)]


def _refused(members: list[ZipMember], root: str) -> list[Problem]:
    """What makes torch's reader refuse an archive before it looks at the pickle."""
    outside = next((member.name for member in members if not member.name.startswith(root)), None) if root else None
    if outside is not None:
        observed = f"member {outside!r} is not in the archive's folder {root!r}"
    elif not any(member.name in (f"{root}version", f"{root}.data/version") for member in members):
        observed = f"no member {root}version"
    else:
        return []
    return [
        Problem(
            name="corrupt-file", observed=observed, expected="an archive that torch reads", place="central directory"
        )
    ]


def _same_names(members: list[ZipMember]) -> list[Problem]:
    # Torch's reader takes no notice of case, and which of the two it finds depends on their number.
    counts = Counter(member.name.lower() for member in members)
    twice = [member for member in members if counts[member.name.lower()] > 1]
    if not twice:
        return []
    return [
        Problem(
            name="corrupt-file",
            observed=f"{len(twice)} members share a name, {twice[0].name!r} for one: readers differ on which they take",
            expected="one member a name",
            place=twice[0].name,
        )
    ]


def _overlaps(members: list[ZipMember]) -> list[Problem]:
    placed = sorted(members, key=lambda member: member.offset)
    for first, second in pairwise(placed):
        if first.offset + _LOCAL_BYTES + len(first.name.encode()) + first.stored > second.offset:
            return [
                Problem(
                    name="corrupt-file",
                    observed=f"the bytes of {first.name!r} and {second.name!r} overlap",
                    expected="members beside each other",
                    place=f"byte {second.offset}",
                )
            ]
    return []


def _paths(members: list[ZipMember]) -> list[Problem]:
    leaving = [
        member.name
        for member in members
        if member.name.startswith(("/", "\\"))
        or ".." in member.name.replace("\\", "/").split("/")
        or ":" in member.name[:2]
    ]
    if not leaving:
        return []
    return [
        Problem(
            name="path-traversal",
            observed=f"{len(leaving)} member{'s' * (len(leaving) > 1)} named outside the archive's folder: "
            f"{leaving[0]!r}",
            expected="relative names",
            place="central directory",
            severity=Severity.WARNING,
        )
    ]


def other_local_name(file: FileBytes, member: ZipMember, name: str) -> list[Problem]:
    """Returns a problem where a member's own header names it otherwise than the directory, by which torch goes."""
    wanted = name.encode()
    begin = member.offset + _LOCAL_BYTES
    found = file.read(begin, min(len(wanted), file.size - begin))
    if found == wanted or "\ufffd" in name:
        return []
    return [
        Problem(
            name="corrupt-file",
            observed=f"the directory says {name!r}, the member's own header {found!r}",
            expected="one name",
            place=f"byte {member.offset}",
        )
    ]

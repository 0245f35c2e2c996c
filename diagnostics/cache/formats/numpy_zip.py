"""A NumPy archive (.npz) whose arrays are cut off, hold pickled objects, or are not what they claim to be.

What it does: reads the zip directory and the text header of each array in it, and compares the size that
the header promises with the member's. Arrays have no device tags; an array of objects is a pickle inside.
Of a compressed array no more than its header is inflated.

Why it matters: `np.load` opens such an archive without a word and fails at the first use of the bad array,
in a loader worker; an array of objects makes every reader ask for `allow_pickle=True`, which runs code.

Bad:

    np.savez("sample_00017.npz", latent=latents, names=np.array(names, dtype=object))

Good:

    np.savez("sample_00017.npz", latent=latents, names=np.array(names))

Fix: make the file again; save objects as arrays of numbers or text.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

from diagnostics.cache.archives.zip_directory import LOCAL, STORED, ZipMember, content_offset, read_directory
from diagnostics.cache.archives.zip_directory import deep as deep
from diagnostics.cache.file_bytes import DamagedFileError, FileBytes
from diagnostics.cache.file_scan import EXAMPLES, MAX_FACTS, FileScan, Problem, TensorFact, by_device, by_dtype
from diagnostics.cache.formats.numpy_header import MAX_HEADER_BYTES, PREFIX_BYTES, ArrayHeader, HeaderError, read_header
from diagnostics.cache.storages import StorageTag

CODE = "C105"
NAME = "numpy-zip"
FORMAT = "npz"
ENDINGS = (".npz",)
NO_MEMBERS = b"PK\5\6" + bytes(18)  # what np.savez writes without arrays
FIRST_READ = 512  # holds almost every header
MAX_HEADERS = 10_000  # arrays that are looked into; of the others the sizes in the directory are checked


@dataclass(frozen=True, slots=True)
class Array:
    """One member that ends with .npy: what it holds, as far as that can be read, and what is wrong with it."""

    fact: TensorFact | None
    wrong: Problem | None


def recognise(head: bytes, tail: bytes) -> bool:
    """A zip archive whose first member is a .npy file."""
    if not head.startswith(LOCAL) or len(head) < 30:
        return False
    return head[30 : 30 + int.from_bytes(head[26:28], "little")].endswith(b".npy")


def scan(file: FileBytes) -> FileScan:
    """Returns what the archive holds and what is wrong with it; never raises for what the file contains."""
    try:
        members = [member for member in read_directory(file) if member.name.endswith(".npy")]
    except DamagedFileError as error:
        name = "truncated-file" if error.truncated else "corrupt-file"
        problem = Problem(name=name, observed=str(error), expected="a whole .npz archive", place=error.place)
        return FileScan(path=file.path, size=file.size, code=CODE, format=FORMAT, problems=(problem,))
    arrays = [_array(file, member) for member in members[:MAX_HEADERS]]
    facts = [array.fact for array in arrays if array.fact is not None]
    tags = [StorageTag(fact.key, fact.dtype, 1, "cpu", fact.bytes, 0) for fact in facts]
    return FileScan(
        path=file.path,
        size=file.size,
        code=CODE,
        format=FORMAT,
        devices=by_device(tags),
        dtypes=by_dtype(tags),
        tensors=len(members),
        facts=tuple(facts[:MAX_FACTS]),
        content=_content(members),
        problems=tuple(_problems([array.wrong for array in arrays if array.wrong is not None])),
    )


def _array(file: FileBytes, member: ZipMember) -> Array:
    try:
        header = read_header(_first_bytes(file, member), member.size)
    except (HeaderError, DamagedFileError) as error:
        name = "truncated-file" if error.truncated else "corrupt-file"
        return Array(None, Problem(name=name, observed=str(error), expected="a whole array", place=member.name))
    held = min(header.bytes, member.size - header.data_at)
    key, dtype = member.name.removesuffix(".npy"), header.element.name
    fact = TensorFact(key=key, dtype=dtype, shape=header.shape, bytes=held, storage_bytes=held)
    return Array(fact, _wrong(member, header))


def _wrong(member: ZipMember, header: ArrayHeader) -> Problem | None:
    if header.element.pickled:
        observed = "an array of objects: np.load needs allow_pickle=True for it and would unpickle them"
        return Problem(name="unsafe-pickle", observed=observed, expected="an array of numbers", place=member.name)
    if member.size < header.data_at + header.bytes:
        return Problem(
            name="truncated-file",
            observed=f"{member.size} bytes",
            expected=f"{header.data_at + header.bytes} bytes for shape {header.shape}",
            place=member.name,
        )
    return None


def _first_bytes(file: FileBytes, member: ZipMember) -> bytes:
    """Returns the beginning of a member, as much as a header can take; only that much is inflated."""
    if member.method == STORED and member.stored != member.size:
        raise DamagedFileError(f"takes {member.stored} bytes and claims {member.size}")
    at, longest = content_offset(file, member), MAX_HEADER_BYTES + PREFIX_BYTES
    data = b""
    for length in (FIRST_READ, longest):
        data = file.read(at, min(member.stored, length))
        data = data if member.method == STORED else _inflated(data, longest)
        if len(data) >= PREFIX_BYTES and int.from_bytes(data[8:10], "little") + PREFIX_BYTES <= len(data):
            break
    return data


def _inflated(data: bytes, limit: int) -> bytes:
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, limit)
    except zlib.error as error:
        raise DamagedFileError(f"does not inflate: {error}") from None


def _problems(wrong: list[Problem]) -> Iterator[Problem]:
    """Yields one problem of each name: the first, and how many more there are."""
    for name in sorted({problem.name for problem in wrong}):
        same = [problem for problem in wrong if problem.name == name]
        places = ", ".join(problem.place for problem in same[1:EXAMPLES])
        dots = ", ..." if len(same) > EXAMPLES else ""
        more = f"; and {len(same) - 1} more arrays: {places}{dots}" if len(same) > 1 else ""
        yield replace(same[0], observed=same[0].observed + more)


def _content(members: list[ZipMember]) -> str:
    """Returns a digest of all names, sizes and checksums, empty where a checksum was not written."""
    digest = hashlib.blake2b(digest_size=16)
    for member in sorted(members, key=lambda member: member.name):
        if member.size and not member.crc:
            return ""
        digest.update(f"{member.name!r} {member.size} {member.crc} ".encode("ascii", "backslashreplace"))
    return digest.hexdigest()

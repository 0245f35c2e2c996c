"""A safetensors file (.safetensors) that is cut off or whose header describes other bytes than it holds.

What it does: reads the JSON header and checks it as the reference implementation does when it opens a file:
known types, shapes that give the sizes, tensors one after the other without gaps or overlaps, up to the last
byte. Such a file has no device tags and runs no code.

Why it matters: a file that was cut off by a full disk is refused only when its turn comes, in mid-epoch, and
overlapping tensors give data of another sample without a word.

Bad:

    save_file({"latent": latent}, "sample_00017.safetensors")        # killed, or the disk is full, half way

Good:

    save_file({"latent": latent}, "sample_00017.tmp"); os.replace("sample_00017.tmp", "sample_00017.safetensors")

Fix: make the file again.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

from diagnostics.cache.file_bytes import DamagedFileError, FileBytes
from diagnostics.cache.file_scan import MAX_FACTS, FileScan, Problem, TensorFact, by_device, by_dtype
from diagnostics.cache.storages import StorageTag
from diagnostics.core.findings import Severity

CODE = "C104"
NAME = "safetensors-file"
FORMAT = "safetensors"
ENDINGS = (".safetensors",)
MEANINGS = {"not-examined": "have a header too large to be examined here"}
REMEDIES = {"not-examined": "open them once with the safetensors library, which checks them too"}
LENGTH_BYTES = 8
REFERENCE_LIMIT = 100_000_000  # header bytes; the reference implementation refuses more
# What is examined: 75,000 tensors. Empty lists and dicts are what fills memory fastest, 80 bytes for 3 of text.
MAX_HEADER_BYTES, MAX_BRACKETS, MAX_ITEMS = 8 << 20, 300_000, 800_000
MAX_BYTES = 1 << 64
# Name there, name in torch, bits of one element. Source: safetensors/src/tensor.rs of 0.8, enum Dtype.
DTYPES = {
    "BOOL": ("bool", 8),
    "F4": ("float4_e2m1fn", 4),
    "F6_E2M3": ("float6_e2m3", 6),
    "F6_E3M2": ("float6_e3m2", 6),
    "U8": ("uint8", 8),
    "I8": ("int8", 8),
    "F8_E5M2": ("float8_e5m2", 8),
    "F8_E4M3": ("float8_e4m3fn", 8),
    "F8_E8M0": ("float8_e8m0fnu", 8),
    "F8_E4M3FNUZ": ("float8_e4m3fnuz", 8),
    "F8_E5M2FNUZ": ("float8_e5m2fnuz", 8),
    "I16": ("int16", 16),
    "U16": ("uint16", 16),
    "F16": ("float16", 16),
    "BF16": ("bfloat16", 16),
    "I32": ("int32", 32),
    "U32": ("uint32", 32),
    "F32": ("float32", 32),
    "C64": ("complex64", 64),
    "F64": ("float64", 64),
    "I64": ("int64", 64),
    "U64": ("uint64", 64),
}


@dataclass(frozen=True, slots=True)
class HeaderTensor:
    """One entry of the header; `begin` and `end` count from the end of the header."""

    key: str
    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


def recognise(head: bytes, tail: bytes) -> bool:
    """Begins with a length below 4 GiB and the opening of a JSON object."""
    return head[4:9] == b"\0\0\0\0{" and head[9:10] in (b'"', b"}", b" ", b"\n", b"\r", b"\t")


def scan(file: FileBytes) -> FileScan:
    """Returns what the header says and what is wrong with it; never raises for what the file contains."""
    try:
        length = _header_length(file)
        if length > MAX_HEADER_BYTES:
            return _not_examined(file, length)
        tensors = _tensors(file.read(LENGTH_BYTES, length))
        _check_order(tensors)
    except DamagedFileError as error:
        name = "truncated-file" if error.truncated else "corrupt-file"
        problem = Problem(name=name, observed=str(error), expected="a whole safetensors file", place=error.place)
        return FileScan(path=file.path, size=file.size, code=CODE, format=FORMAT, problems=(problem,))
    return _described(file, tensors, LENGTH_BYTES + length)


def _header_length(file: FileBytes) -> int:
    length = int.from_bytes(file.read(0, LENGTH_BYTES), "little")
    if length > REFERENCE_LIMIT:
        raise DamagedFileError(f"a header of {length:,} bytes; readers refuse more than {REFERENCE_LIMIT:,}")
    if LENGTH_BYTES + length > file.size:
        observed = f"{file.size} bytes, and the header alone takes {LENGTH_BYTES + length}"
        raise DamagedFileError(observed, truncated=True, place="header")
    return length


def _not_examined(file: FileBytes, length: int) -> FileScan:
    problem = Problem(
        name="not-examined",
        observed=f"a header of {length:,} bytes",
        expected=f"up to {MAX_HEADER_BYTES:,}",
        place="header",
        severity=Severity.WARNING,
    )
    return FileScan(path=file.path, size=file.size, code=CODE, format=FORMAT, problems=(problem,))


def _tensors(header: bytes) -> list[HeaderTensor]:
    if header.count(b"[") + header.count(b"{") > MAX_BRACKETS or header.count(b",") > MAX_ITEMS:
        raise _damaged("more lists and values than a header of tensors has")
    try:
        entries = json.loads(header.decode(), object_pairs_hook=_without_duplicates, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise _damaged(f"the header is no JSON: {str(error)[:100]}") from None
    if not isinstance(entries, dict):
        raise _damaged("the header is no JSON object")
    notes = entries.pop("__metadata__", None) or {}
    if not isinstance(notes, dict) or not all(isinstance(text, str) for text in notes.values()):
        raise _damaged("__metadata__ is no table of texts")
    return [_tensor(key, entry) for key, entry in entries.items()]


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    entries = dict(pairs)
    if len(entries) != len(pairs):
        raise ValueError("a key stands in it twice")
    return entries


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


def _tensor(key: str, entry: object) -> HeaderTensor:
    if not key.isascii() and any("\ud800" <= letter <= "\udfff" for letter in key):
        raise _damaged("a key that is no text", ascii(key))
    match entry:
        case {"dtype": str(dtype), "shape": list(shape), "data_offsets": [int(begin), int(end)]}:
            numbers = [*shape, begin, end]
        case _:
            raise _damaged("an entry without dtype, shape and data_offsets", key)
    if dtype not in DTYPES:
        raise _damaged(f"unknown type {dtype[:40]!r}", key)
    if not all(type(number) is int and 0 <= number < MAX_BYTES for number in numbers):
        raise _damaged("a shape or offset that is no length", key)
    bits = math.prod(shape) * DTYPES[dtype][1]
    if bits >= MAX_BYTES:
        raise _damaged("more bytes than any file holds", key)
    if bits != 8 * (end - begin):
        raise _damaged(f"bytes {begin} to {end} for shape {tuple(shape[:8])} of {dtype}", key)
    return HeaderTensor(key, dtype, tuple(shape), begin, end)


def _check_order(tensors: list[HeaderTensor]) -> None:
    tensors.sort(key=lambda tensor: (tensor.begin, tensor.end))
    at = 0
    for tensor in tensors:
        if tensor.begin != at:
            wrong = "overlaps the one before" if tensor.begin < at else f"leaves bytes {at} to {tensor.begin} unused"
            raise _damaged(f"bytes {tensor.begin} to {tensor.end}: it {wrong}", tensor.key)
        at = tensor.end


def _damaged(message: str, key: str = "") -> DamagedFileError:
    return DamagedFileError(message, place=f"header, {key[:100]}" if key else "header")


def _described(file: FileBytes, tensors: list[HeaderTensor], data_at: int) -> FileScan:
    end = data_at + (tensors[-1].end if tensors else 0)
    name = "truncated-file" if file.size < end else "corrupt-file"
    # Unlike other formats: the reference refuses a file with one byte more than its tensors take.
    problem = Problem(
        name=name, observed=f"{file.size} bytes", expected=f"{end} bytes for {len(tensors)} tensors", place="data"
    )
    tags = [
        StorageTag(tensor.key, DTYPES[tensor.dtype][0], 1, "cpu", tensor.end - tensor.begin, 0) for tensor in tensors
    ]
    facts = tuple(
        TensorFact(
            key=tensor.key,
            dtype=DTYPES[tensor.dtype][0],
            shape=tensor.shape,
            bytes=tensor.end - tensor.begin,
            storage_bytes=tensor.end - tensor.begin,
        )
        for tensor in tensors[:MAX_FACTS]
    )
    return FileScan(
        path=file.path,
        size=file.size,
        code=CODE,
        format=FORMAT,
        devices=by_device(tags),
        dtypes=by_dtype(tags),
        tensors=len(tensors),
        facts=facts,
        problems=(problem,) if file.size != end else (),
    )

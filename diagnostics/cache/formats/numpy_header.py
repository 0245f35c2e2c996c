"""The text header of a .npy array: its type, shape and where its data begins; untrusted text.

Source: numpy/lib/_format_impl.py. numpy parses the header with `ast.literal_eval` and so does this, but only
after a check of its characters: no operator, name or call is left that could overflow the parser's stack.
"""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass
from functools import lru_cache

MAGIC = b"\x93NUMPY"
VERSIONS = (b"\1\0", b"\2\0", b"\3\0")
PREFIX_BYTES = 12  # magic, version, and at most 4 bytes of length
MAX_HEADER_BYTES = 10_000  # numpy's own limit
MAX_DIMENSIONS, MAX_BYTES = 64, 1 << 63
MAX_DEPTH = 16  # of records within records
KINDS = {"f": "float", "i": "int", "u": "uint", "c": "complex", "b": "bool", "?": "bool", "S": "bytes", "U": "text"}
WIDTHS = {"f": (2, 4, 8, 12, 16), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "c": (8, 16, 24, 32), "M": (8,), "m": (8,)}
KINDS |= {"V": "void", "M": "datetime", "m": "timedelta", "O": "object"}
_LITERALS = re.compile(
    r"""(?:'(?:[^'\\]|\\[\\'"nrtxuU])*+'|"(?:[^"\\]|\\[\\'"nrtxuU])*+"|True|False|[\s\d(){}\[\],:L])*+""", re.ASCII
)
_TYPE = re.compile(r"([<>|=]?)([fiucbSUVmM?O])(\d{0,9})(\[[^\[\]]*\])?")


class HeaderError(Exception):
    """The header is none that numpy would accept; `truncated` where it only ends too early."""

    def __init__(self, message: str, *, truncated: bool = False) -> None:
        super().__init__(message)
        self.truncated = truncated


@dataclass(frozen=True, slots=True)
class ElementType:
    """The type of one element: a name to show, its size in bytes, and whether a pickle stands for it."""

    name: str
    itemsize: int
    pickled: bool


@dataclass(frozen=True, slots=True)
class ArrayHeader:
    """What the header says; `data_at` is where the elements begin, counted from the magic string."""

    element: ElementType
    shape: tuple[int, ...]
    data_at: int

    @property
    def bytes(self) -> int:
        """What its elements take; nothing is known of pickled ones."""
        return 0 if self.element.pickled else self.element.itemsize * math.prod(self.shape)


def read_header(head: bytes, size: int) -> ArrayHeader:
    """Returns the header of an array of `size` bytes in all, of which `head` are the first.

    Raises HeaderError saying what is wrong with it.
    """
    if len(head) < PREFIX_BYTES:
        raise HeaderError("the header is cut off", truncated=True)
    version = head[len(MAGIC) : len(MAGIC) + 2]
    if not head.startswith(MAGIC) or version not in VERSIONS:
        raise HeaderError(f"begins with {head[:8]!r}, which no version of numpy wrote")
    begin = 10 if version == VERSIONS[0] else 12
    length = int.from_bytes(head[8:begin], "little")
    if begin + length > size:
        raise HeaderError("the header is cut off", truncated=True)
    if length > MAX_HEADER_BYTES:
        raise HeaderError(f"a header of {length:,} bytes; numpy reads no more than {MAX_HEADER_BYTES:,}")
    encoding = "utf-8" if version == VERSIONS[2] else "latin1"
    element, shape = _parsed(head[begin : begin + length], encoding)
    return ArrayHeader(element, shape, begin + length)


# The arrays of one folder mostly have the same header.
@lru_cache(maxsize=64)
def _parsed(data: bytes, encoding: str) -> tuple[ElementType, tuple[int, ...]]:
    return _fields(_literal(data, encoding))


def _literal(data: bytes, encoding: str) -> object:
    try:
        text = data.decode(encoding).strip()
        if _LITERALS.fullmatch(text) is None:
            raise HeaderError("the header is no plain dictionary")
        # Python 2 wrote its long numbers as 10L.
        return ast.literal_eval(re.sub(r"(?<=\d)L(?=[,)])", "", text))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise HeaderError("the header is no plain dictionary") from None


def _fields(header: object) -> tuple[ElementType, tuple[int, ...]]:
    match header:
        case {"descr": descr, "fortran_order": bool(), "shape": tuple(shape), **others} if not others:
            _check_shape(shape)
            element = element_type(descr)
            if element.itemsize * math.prod(shape) >= MAX_BYTES:
                raise HeaderError("more bytes than any file holds")
            return element, shape
        case _:
            raise HeaderError("the header is no dictionary of descr, fortran_order and shape")


def _check_shape(shape: tuple[object, ...]) -> None:
    if len(shape) > MAX_DIMENSIONS:
        raise HeaderError(f"a shape of {len(shape)} dimensions; numpy has at most {MAX_DIMENSIONS}")
    if not all(type(length) is int and 0 <= length < MAX_BYTES for length in shape):
        raise HeaderError("a shape that is no tuple of lengths")


def element_type(descr: object, depth: int = 0) -> ElementType:
    """Returns the type that a `descr` names: a plain one, a record of fields, or an array of either."""
    if depth > MAX_DEPTH:
        raise HeaderError(f"records within records more than {MAX_DEPTH} deep")
    match descr:
        case str():
            return _plain(descr)
        case list(fields) if fields:
            inner = [_field(field, depth + 1) for field in fields]
            size, pickled = sum(item.itemsize for item in inner), any(item.pickled for item in inner)
            return ElementType(f"record of {len(inner)} fields", size, pickled)
        case (base, tuple(shape)):
            _check_shape(shape)
            item = element_type(base, depth + 1)
            return ElementType(item.name, min(item.itemsize * math.prod(shape), MAX_BYTES), item.pickled)
        case _:
            raise HeaderError(f"unknown type {str(descr)[:40]!r}")


def _field(field: object, depth: int) -> ElementType:
    match field:
        case (str() | (str(), str()), base):
            return element_type(base, depth)
        case (str() | (str(), str()), base, int(length)):
            return element_type((base, (length,)), depth)
        case (str() | (str(), str()), base, tuple(shape)):
            return element_type((base, shape), depth)
        case _:
            raise HeaderError(f"unknown field {str(field)[:40]!r}")


def _plain(descr: str) -> ElementType:
    match = _TYPE.fullmatch(descr)
    if match is None:
        raise HeaderError(f"unknown type {descr[:40]!r}")
    order, kind, digits = match[1], match[2], match[3]
    width = int(digits or 1) * (4 if kind == "U" else 1)
    if width not in WIDTHS.get(kind, (width,)):
        raise HeaderError(f"unknown type {descr[:40]!r}")
    name = KINDS[kind] + (str(8 * width) if kind in "fiuc" else "")
    # torch takes no array of the other byte order, and neither does a kernel that maps the file.
    return ElementType(f"{name} big-endian" if order == ">" and kind in "fiucUmM" else name, width, kind == "O")

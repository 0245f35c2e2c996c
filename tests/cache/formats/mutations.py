"""Files made wrong on purpose: bytes, lengths, zip directories, pickles and headers, the same for the same number.

`mutated(seeds, number)` picks one of the seeds by the number and changes it in one of many ways, some of which
know the format: random bytes alone never get past a magic number.
"""

from __future__ import annotations

import io
import json
import pickle
import pickletools
import random
import struct
import zipfile
from collections.abc import Callable, Mapping

Mutation = Callable[[bytes, random.Random], bytes]
MAX_BYTES = 1 << 20  # of one input
NUMBERS = (0, 1, 7, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF)
WIDE_NUMBERS = (*NUMBERS, 1 << 40, (1 << 62) - 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
NAMES = (
    b"torch._utils\n_rebuild_tensor_v2\n",
    b"torch._utils\n_rebuild_parameter\n",
    b"torch\nFloatStorage\n",
    b"torch\nfloat32\n",
    b"torch\ndevice\n",
    b"collections\nOrderedDict\n",
    b"os\nsystem\n",
    b"numpy._core.multiarray\n_reconstruct\n",
    b"builtins\ngetattr\n",
    b"torch.storage\nUntypedStorage\n",
)
TEXTS = (b"storage", b"cuda:0", b"cpu", b"0", b"meta", b"", b"\xed\xa0\x80", b"a.b[0]", b"x" * 3000)


def mutated(seeds: Mapping[str, bytes], number: int, salt: int = 0) -> tuple[str, bytes]:
    """Returns the name of a seed and its changed bytes."""
    rng = random.Random(salt << 40 | number)
    name = rng.choice(sorted(seeds))
    data = seeds[name]
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        kinds = [*GENERIC, *(mutation for magic, mutation in AWARE if magic(data))]
        data = rng.choice(kinds)(data, rng)[:MAX_BYTES] or b"P"
    if rng.random() < 0.1:
        data = _spliced(data, seeds[rng.choice(sorted(seeds))], rng)[:MAX_BYTES]
    return name, data


def _size(rng: random.Random, small: int, large: int) -> int:
    """Returns the small number, the large one now and then: it costs a hundred times as much to look at."""
    return large if rng.random() < 1 / 24 else small


def _spliced(one: bytes, other: bytes, rng: random.Random) -> bytes:
    return one[: rng.randrange(len(one) + 1)] + other[rng.randrange(len(other) + 1) :]


def _flip(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _cut(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data))
    return data[at:] if rng.random() < 0.1 else data[:at]


def _without_some(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + data[at + rng.choice((1, 2, 4, 8, 40, 4096)) :]


def _doubled(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data))
    piece = data[at : at + rng.randrange(1, 100)]
    return data[:at] + piece * rng.choice((1, 1, 2, _size(rng, 50, 5000))) + data[at:]


def _zeroed(data: bytes, rng: random.Random) -> bytes:
    at, size = rng.randrange(len(data)), rng.choice((4, 64, 512, 1 << 16))
    return data[:at] + b"\0" * min(size, len(data) - at) + data[at + size :]


def _number(data: bytes, rng: random.Random) -> bytes:
    """Puts a number where a length or an offset may be: near either end as often as anywhere."""
    size = rng.choice((1, 2, 4, 8))
    value = rng.choice(WIDE_NUMBERS) if rng.random() < 0.8 else len(data) + rng.randrange(-64, 64)
    near = rng.choice((64, 1024, len(data)))
    at = rng.randrange(min(near, len(data)))
    at = at if rng.random() < 0.5 else max(len(data) - at - size, 0)
    packed = (value % (1 << 8 * size)).to_bytes(size, rng.choice(("little", "little", "little", "big")))
    return data[:at] + packed + data[at + size :]


def _appended(data: bytes, rng: random.Random) -> bytes:
    return data + (rng.randbytes(rng.randrange(1, 200)) if rng.random() < 0.5 else data)


GENERIC: tuple[Mutation, ...] = (_flip, _cut, _without_some, _doubled, _zeroed, _number, _number, _appended)


# Zip archives


def _zip_field(data: bytes, rng: random.Random) -> bytes:
    """Changes one field of one record of the directory."""
    magic = rng.choice((b"PK\1\2", b"PK\1\2", b"PK\5\6", b"PK\6\6", b"PK\6\7", b"PK\3\4"))
    places = _all(data, magic)
    if not places:
        return _number(data, rng)
    at, size = rng.choice(places) + rng.randrange(4, 44, 2), rng.choice((2, 4, 4, 8))
    packed = (rng.choice((*WIDE_NUMBERS, len(data))) % (1 << 8 * size)).to_bytes(size, "little")
    return data[:at] + packed + data[at + size :]


def _all(data: bytes, magic: bytes) -> list[int]:
    found, at = [], data.find(magic)
    while at >= 0 and len(found) < 1000:
        found.append(at)
        at = data.find(magic, at + 1)
    return found


def _zip_rebuilt(data: bytes, rng: random.Random) -> bytes:
    """Writes the archive anew with a member changed, renamed, doubled, deflated or added by the thousand."""
    members = _members(data)
    if not members:
        return _flip(data, rng)
    at = rng.randrange(len(members))
    name, content = members[at]
    pickles = [place for place, (member, _) in enumerate(members) if member.endswith(".pkl")]
    match rng.randrange(8):
        case 0 | 1 | 2 if pickles:
            place = rng.choice(pickles)
            member, body = members[place]
            members[place] = (member, rng.choice(PICKLES)(body or b"N", rng))
        case 3:
            evil = rng.choice(("../../evil", "/etc/passwd", "a/" * 2000, "\udc80", "", name.replace("data", "DATA")))
            members[at] = (evil.encode("utf-8", "replace").decode(), content)
        case 4:
            members.append((name, content[: len(content) // 2]))
        case 5:
            members[at] = (name, rng.choice((b"", content * 2, b"\0" * _size(rng, 100, 1 << 19), content[:-1])))
        case 6:
            members += [(f"archive/data/{number}", b"") for number in range(_size(rng, 10, 3000))]
        case _:
            del members[at]
    return _archive(members, zipfile.ZIP_DEFLATED if rng.random() < 0.3 else zipfile.ZIP_STORED)


def _members(data: bytes) -> list[tuple[str, bytes]]:
    """Returns names and contents, none where Python's own reader gives up."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return [(info.filename, archive.open(info).read(MAX_BYTES)) for info in archive.infolist()[:400]]
    except Exception:  # it raises what comes, on files that were changed once already
        return []


def _archive(members: list[tuple[str, bytes]], method: int) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:
        for name, content in members:
            # Not writestr(name): it warns about doubled names, which are meant here.
            info = zipfile.ZipInfo(name or "x")
            info.compress_type = method
            archive.NameToInfo.pop(info.filename, None)
            archive.writestr(info, content)
    return target.getvalue()


# Pickles


def _random_opcodes(body: bytes, rng: random.Random) -> bytes:
    """Opcodes in any order with arguments that a walk may take for names, keys, devices and counts."""
    parts = [b"\x80\x02"]
    for _ in range(rng.choice((5, 20, _size(rng, 60, 3000)))):
        parts.append(_opcode(rng))
    return b"".join(parts) + b"."


def _opcode(rng: random.Random) -> bytes:
    number = rng.choice(WIDE_NUMBERS)
    text = rng.choice(TEXTS)
    return rng.choice(
        (
            b"(", b")", b"]", b"}", b"N", b"\x88", b"t", b"\x85", b"\x86", b"\x87", b"R", b"Q", b"b", b"e", b"a",
            b"u", b"s", b"0", b"1", b"2", b"l", b"d", b"o", b"\x81", b"\x8f", b"\x90", b"\x91", b"\x92", b"\x93",
            b"\x94", b"\x97", b"\x98",
            b"c" + rng.choice(NAMES), b"c" + rng.choice(NAMES), b"i" + rng.choice(NAMES),
            b"X" + struct.pack("<I", len(text)) + text, b"X" + struct.pack("<I", len(text)) + text,
            b"X" + struct.pack("<I", number & 0xFFFFFFFF), b"\x8d" + struct.pack("<Q", number),
            b"\x8c" + bytes([len(text) & 0xFF]) + text[:255], b"U" + bytes([len(text) & 0xFF]) + text[:255],
            b"K" + bytes([number & 0xFF]), b"M" + struct.pack("<H", number & 0xFFFF),
            b"J" + struct.pack("<I", number & 0xFFFFFFFF), b"\x8a\x08" + struct.pack("<Q", number),
            b"\x8b" + struct.pack("<I", number & 0xFFFFFFFF), b"I%d\n" % number, b"L%dL\n" % number,
            b"I" + b"9" * 6000 + b"\n", b"L" + b"9" * 6000 + b"L\n",
            b"F1e999\n", b"G" + struct.pack(">d", float("nan")), b"S'cuda:0'\n", b"V\\ud800\n", b"P0\n",
            b"q" + bytes([number & 0x7]), b"h" + bytes([number & 0x7]), b"r" + struct.pack("<I", number & 0xFFFFFFFF),
            b"j" + struct.pack("<I", number & 0xFFFFFFFF), b"p%d\n" % (number & 7), b"g%d\n" % (number & 7),
            b"\x95" + struct.pack("<Q", number), b"\x82\x01", b"\x84" + struct.pack("<I", number & 0xFFFFFFFF),
        )
    )  # fmt: skip


def _nested(body: bytes, rng: random.Random) -> bytes:
    depth = _size(rng, 300, 100_000)
    opening, closing = rng.choice(
        ((b"(", b"t"), (b"]", b"a"), (b"(", b"l"), (b"}X\x01\0\0\0k", b"s"), (b"", b"\x85"), (b"(X\x01\0\0\0k", b"d"))
    )
    return b"\x80\x02" + opening * depth + b"N" + closing * depth + b"."


def _doubling(body: bytes, rng: random.Random) -> bytes:
    """A structure of 2**depth paths in a few bytes: every level holds the one below twice."""
    depth = rng.choice((10, 40, 250))
    tensor = _TENSOR if rng.random() < 0.7 else b"N"
    level = rng.choice((b"q%ch%c\x86", b"q%c0}(X\1\0\0\0ah%cX\1\0\0\0bh%cu", b"q%c0](h%ch%ce"))
    parts = [level.replace(b"%c", bytes([number])) for number in range(depth)]
    return b"\x80\x02" + tensor + b"".join(parts) + b"."


def _cyclic(body: bytes, rng: random.Random) -> bytes:
    cycles = (b"]q\0h\0a", b"}q\0X\1\0\0\0ah\0s", b"]q\0(h\0h\0h\0e", b"}q\0(X\1\0\0\0ah\0X\1\0\0\0b" + _TENSOR + b"u")
    return b"\x80\x02" + rng.choice(cycles) + b"."


def _giant_memo(body: bytes, rng: random.Random) -> bytes:
    match rng.randrange(3):
        case 0:
            return b"\x80\x04N" + b"\x94" * _size(rng, 300, 300_000) + b"."
        case 1:
            slots = rng.sample(range(1 << 32), _size(rng, 50, 20_000))
            return b"\x80\x02N" + b"".join(b"r" + struct.pack("<I", slot) for slot in slots) + b"."
        case _:
            return b"\x80\x02]" + (b"X\x04\0\0\0" + rng.randbytes(4)) * _size(rng, 100, 50_000) + b"."


def _many_storages(body: bytes, rng: random.Random) -> bytes:
    count = _size(rng, 10, 2000)
    parts = [_tensor(b"%d" % number, b"cuda:%d" % number, rng.choice(WIDE_NUMBERS)) for number in range(count)]
    return b"\x80\x02(" + b"".join(parts)[: MAX_BYTES // 2] + b"t."


def _tensor(key: bytes, device: bytes, numel: int) -> bytes:
    texts = [b"X" + struct.pack("<I", len(text)) + text for text in (b"storage", key, device)]
    return (
        b"ctorch._utils\n_rebuild_tensor_v2\n((" + texts[0] + b"ctorch\nFloatStorage\n" + texts[1] + texts[2]
        + b"\x8a\x09" + struct.pack("<Q", numel) + b"\0" + b"tQK\0K\x04\x85K\x01\x85\x89ccollections\nOrderedDict\n)RtR"
    )  # fmt: skip


_TENSOR = _tensor(b"0", b"cuda:0", 4)


def _edited(body: bytes, rng: random.Random) -> bytes:
    """Whole opcodes of a real pickle dropped, doubled, exchanged or put between."""
    try:
        starts = [position for _, _, position in pickletools.genops(body)]
    except (ValueError, IndexError, KeyError, struct.error, UnicodeDecodeError, OverflowError, EOFError):
        return _flip(body or b"N", rng)
    ops = [body[one:other] for one, other in zip(starts, [*starts[1:], len(body)], strict=True)]
    for _ in range(rng.choice((1, 2, 5))):
        at, other = rng.randrange(len(ops)), rng.randrange(len(ops))
        match rng.randrange(5):
            case 0 if len(ops) > 1:
                del ops[at]
            case 1:
                ops.insert(at, ops[other])
            case 2:
                ops[at], ops[other] = ops[other], ops[at]
            case 3:
                ops[at] = _opcode(rng)
            case _:
                ops.insert(at, _opcode(rng))
    return b"".join(ops)


PICKLES: tuple[Mutation, ...] = (
    _edited, _edited, _edited, _random_opcodes, _random_opcodes, _nested, _doubling, _cyclic, _giant_memo,
    _many_storages, _flip, _number, _cut,
)  # fmt: skip


def _pickle(data: bytes, rng: random.Random) -> bytes:
    return rng.choice(PICKLES)(data, rng)


LEGACY = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."
_LEGACY_HEAD = LEGACY + pickle.dumps(1001, 2) + pickle.dumps({"little_endian": True, "protocol_version": 1001}, 2)


def _legacy(data: bytes, rng: random.Random) -> bytes:
    """Replaces the object pickle of a legacy file, or one of the others."""
    body = rng.choice(PICKLES)(_TENSOR + b".", rng)
    keys = rng.choice((pickle.dumps(["0"], 2), _nested(b"", rng), b"", pickle.dumps([str(n) for n in range(500)], 2)))
    tail = struct.pack("<Q", rng.choice(WIDE_NUMBERS)) + b"\0" * 16
    return _LEGACY_HEAD + body + keys + tail if rng.random() < 0.8 else LEGACY + body + keys + tail


# Text headers


def _npy(data: bytes, rng: random.Random) -> bytes:
    length = int.from_bytes(data[8:10], "little")
    text = data[10 : 10 + length].decode("latin1")
    match rng.randrange(7):
        case 0:
            text = "(" * rng.choice((50, 5000)) + text
        case 1:
            text = text.replace("(", f"({'9' * rng.choice((10, 30, 5000))}, ", 1)
        case 2:
            kind = rng.choice(("|O", "<f8" * 100, "<f999999999", "|V2147483647", ">U99999999", "", "<f4[", "\0"))
            text = text.replace("<f2", kind)
        case 3:
            text = text.replace("'shape'", rng.choice(("'shape', 'shape'", "-" * 5000 + "1", "b'shape'", "[1]*99")))
        case 4:
            text = text.replace("(4, 3)", f"({'1, ' * rng.choice((33, 3000))})")
        case 5:
            text = rng.choice(
                ("{" * 300, "-" * 60_000, "1+" * 9000 + "1", "not " * 9000 + "1", "[" * 60_000, "1" * 60_000)
            )
        case _:
            text = text.replace(rng.choice(text or " "), rng.choice("(){}[]',:-9\n\\\0"), 1)
    encoded = text.encode("latin1", "replace")
    if rng.random() < 0.5 or len(encoded) > 0xFFFF:
        return b"\x93NUMPY\x02\x00" + struct.pack("<I", len(encoded)) + encoded + data[10 + length :]
    return data[:8] + struct.pack("<H", len(encoded)) + encoded + data[10 + length :]


def _safetensors(data: bytes, rng: random.Random) -> bytes:
    length = int.from_bytes(data[:8], "little")
    header = _json(data[8 : 8 + length], rng)
    return (
        struct.pack("<Q", len(header) if rng.random() < 0.8 else rng.choice(WIDE_NUMBERS)) + header + data[8 + length :]
    )


def _json(text: bytes, rng: random.Random) -> bytes:
    """JSON with values exchanged, nested or made huge."""
    deep = _size(rng, 500, 100_000)
    odd = rng.choice(
        (
            b"1e999", b"9" * 5000, b"-1", b"null", b"[" * deep, b'{"a":' * deep, b'"\\ud800"', b"NaN", b"[]",
            b"{}",
            b'"' + b"x" * deep + b'"', b"18446744073709551616", b"0.5", b"true", b'"../../etc/passwd"', b"\xff\xfe",
        )
    )  # fmt: skip
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _flip(text or b"{", rng)
    values = list(_values(value))
    if not values or rng.random() < 0.2:
        return odd
    holder, key = rng.choice(values)
    holder[key] = "@@"
    return json.dumps(value).encode().replace(b'"@@"', odd, 1)


def _values(value: object, depth: int = 0) -> list[tuple[object, object]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found: list[tuple[object, object]] = []
    for key, inner in list(pairs)[:200]:
        found.append((value, key))
        if depth < 5:
            found += _values(inner, depth + 1)
    return found


def _is_zip(data: bytes) -> bool:
    return data.startswith(b"PK\3\4")


AWARE: tuple[tuple[Callable[[bytes], bool], Mutation], ...] = (
    (_is_zip, _zip_field), (_is_zip, _zip_field), (_is_zip, _zip_rebuilt), (_is_zip, _zip_rebuilt),
    (_is_zip, _zip_rebuilt), (_is_zip, _zip_rebuilt),
    (lambda data: data.startswith(LEGACY), _legacy), (lambda data: data.startswith(LEGACY), _legacy),
    (lambda data: data.startswith(LEGACY), _legacy), (lambda data: data.startswith(LEGACY), _legacy),
    (lambda data: data[:1] == b"\x80" and not data.startswith(LEGACY), _pickle),
    (lambda data: data[:1] == b"\x80" and not data.startswith(LEGACY), _pickle),
    (lambda data: data[:1] == b"\x80" and not data.startswith(LEGACY), _pickle),
    (lambda data: data.startswith(b"\x93NUMPY"), _npy), (lambda data: data.startswith(b"\x93NUMPY"), _npy),
    (lambda data: data.startswith(b"\x93NUMPY"), _npy), (lambda data: data.startswith(b"\x93NUMPY"), _npy),
    (lambda data: data[8:9] == b"{", _safetensors), (lambda data: data[8:9] == b"{", _safetensors),
    (lambda data: data[8:9] == b"{", _safetensors), (lambda data: data[8:9] == b"{", _safetensors),
    (lambda data: data[:1] in (b"{", b"["), _json), (lambda data: data[:1] in (b"{", b"["), _json),
)  # fmt: skip

"""Records made wrong on purpose: bytes, JSON, lines, files and who is whose parent; the same for the same number.

`mutated(seeds, number)` picks one of the records and changes it in one to three of many ways. A record is its files
by their path in it; what is no file is an Odd.
"""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from diagnostics.agent.shared import layout


@dataclass(frozen=True, slots=True)
class Odd:
    """What stands in a file's place: kind is link, fifo, folder, hole (a file of `size` bytes without data) or lock."""

    kind: str
    target: str = ""
    size: int = 0


Record = dict[str, "bytes | Odd"]
Mutation = Callable[[Record, random.Random], None]

NUMBERS = (0, 1, 2, 7, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 40, (1 << 63) - 1, 1 << 63)
TEXTS = (
    "", " ", "0", "-1", "rank", "a\nb", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\u202egnp.exe", "\x9b31m", "\x00",
    "</details><img src=x onerror=alert(1)>", "a|b|c", "``` x", "`", "[text](javascript:alert(1))", "# heading",
    "x" * 5000, "\ud800", "é" * 300, "train.py:99999999999999999999", "train.py:-1", ":", "/", "..", "\\", "%s%n{0}",
    "Traceback (most recent call last):\n  File \"x\", line 9999999999, in <module>\n    x\nValueError: \x1b[2J",
    "RuntimeError: " + "a:" * 3000, "٣", "²", "1e999", "NaN",
)  # fmt: skip
VALUES = (
    None, True, False, 0, 1, -1, 255, 2**31, -(2**31), 2**62, 2**63, 2**64, 10**400, 0.0, -0.5, 1e-308, 1e308, 1e999,
    float("nan"), [], {}, [[]], [None], {"": None}, [{}], {"a": {"b": {}}}, [1, "a", None, {}],
)  # fmt: skip


def mutated(seeds: Mapping[str, Mapping[str, bytes]], number: int, salt: int = 0) -> tuple[str, Record, list[str]]:
    """Returns the name of a seed, its changed files, and the names of the mutations."""
    rng = random.Random(salt << 40 | number)
    name = rng.choice(sorted(seeds))
    record: Record = dict(seeds[name])
    done = []
    for _ in range(rng.choice((1, 1, 2, 3, 6, 25))):
        mutation = rng.choices(MUTATIONS, WEIGHTS)[0]
        mutation(record, rng)
        done.append(mutation.__name__)
    return name, record, done


def _bytes_of(record: Record, name: str) -> bytes:
    data = record[name]
    return data if isinstance(data, bytes) else b""


def _some(record: Record, rng: random.Random, *ends: str) -> str:
    """Returns the name of a file with one of these ends; any where there is none."""
    fitting = [name for name in sorted(record) if name.endswith(ends)] if ends else []
    return rng.choice(fitting or sorted(record) or ["job.json"])


def flip(record: Record, rng: random.Random) -> None:
    """Some bytes of a file."""
    name = _some(record, rng)
    data = bytearray(_bytes_of(record, name) or b"?")
    for _ in range(rng.choice((1, 2, 5, 40, 400))):
        data[rng.randrange(len(data))] = rng.choice((0, 0x1B, 0xFF, rng.randrange(256)))
    record[name] = bytes(data)


def cut(record: Record, rng: random.Random) -> None:
    """The end of a file, or its beginning, or all of it."""
    name = _some(record, rng)
    data = _bytes_of(record, name)
    at = rng.randrange(len(data) + 1)
    record[name] = rng.choice((data[:at], data[:at], data[at:], b""))


def splice(record: Record, rng: random.Random) -> None:
    """The head of one file before the tail of another."""
    one, other = _some(record, rng), _some(record, rng)
    first, second = _bytes_of(record, one), _bytes_of(record, other)
    record[one] = first[: rng.randrange(len(first) + 1)] + second[rng.randrange(len(second) + 1) :]


def swap(record: Record, rng: random.Random) -> None:
    """Two files under each other's names."""
    one, other = _some(record, rng), _some(record, rng)
    if one in record and other in record:
        record[one], record[other] = record[other], record[one]


def copy(record: Record, rng: random.Random) -> None:
    """A file under one more name."""
    name = _some(record, rng)
    folder, _, file = name.rpartition("/")
    stem, dot, suffix = file.partition(".")
    words = stem.split("-")
    if len(words) > 1:
        words[rng.randrange(1, len(words))] = rng.choice(
            ("0", "-1", "x", "99999999999999999999", str(rng.randrange(9999)))
        )
    record[f"{folder}/{'-'.join(words)}{dot}{suffix}" if folder else f"copy-{file}"] = record.get(name, b"")


def drop(record: Record, rng: random.Random) -> None:
    """A file is missing."""
    if len(record) > 1:
        del record[_some(record, rng)]


def odd(record: Record, rng: random.Random) -> None:
    """A link, a named pipe, a folder, a hole of 3 GiB or one just below a limit in a file's place."""
    name = _some(record, rng)
    record[name] = rng.choice(
        (
            Odd(
                "link", target=rng.choice(("/etc/passwd", "/dev/zero", "..", name.rpartition("/")[2], "/proc/self/mem"))
            ),
            Odd("fifo"),
            Odd("folder"),
            Odd("lock"),
            Odd("hole", size=rng.choice((3 << 30, (64 << 20), 5 << 20))),
        )
    )


def folder(record: Record, rng: random.Random) -> None:
    """A whole folder of the record is a link or a pipe."""
    part = rng.choice(("agents", "output", "captures", "sources"))
    for name in [name for name in record if name.startswith(part + "/")]:
        del record[name]
    record[part] = rng.choice(
        (Odd("link", target="/proc/self"), Odd("link", target=part), Odd("fifo"), b"", Odd("lock"))
    )


def header(record: Record, rng: random.Random) -> None:
    """A number in the header of an agent's file, or in its table of areas."""
    name = _some(record, rng, ".bin")
    data = bytearray(_bytes_of(record, name))
    limit = min(len(data), layout.HEADER_BYTES) - 8
    if limit < 1:
        return
    for _ in range(rng.choice((1, 1, 3))):
        at = rng.choice((rng.randrange(limit), 8 * rng.randrange(max(1, min(limit, 96) // 8))))
        value = rng.choice(NUMBERS)
        size = rng.choice((2, 4, 8))
        data[at : at + size] = (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")
    record[name] = bytes(data)


def words(record: Record, rng: random.Random) -> None:
    """Numbers anywhere in an agent's file, where something stands."""
    name = _some(record, rng, ".bin")
    data = bytearray(_bytes_of(record, name))
    filled = [at for at in range(0, len(data) - 8, 4) if data[at]] if len(data) < 1 << 21 else []
    for _ in range(rng.choice((1, 5, 50))):
        if filled:
            at = rng.choice(filled)
            form, limit = rng.choice((("<I", 32), ("<Q", 64), ("<H", 16)))
            struct.pack_into(form, data, at, rng.choice(NUMBERS) & ((1 << limit) - 1))
    record[name] = bytes(data)


def parents(record: Record, rng: random.Random) -> None:
    """Processes that are each other's parents, or their own, or nobody's; the same pid again."""
    name = _some(record, rng, "job.json")
    try:
        job = json.loads(_bytes_of(record, name))
        processes = job["processes"]
        pids = [one["pid"] for one in processes]
        for one in rng.sample(processes, min(len(processes), rng.choice((1, 2, 99)))):
            one[rng.choice(("ppid", "ppid", "pid", "start_ticks"))] = rng.choice([*pids, one["pid"], 0, 1, -1, 2**40])
    except (ValueError, TypeError, KeyError, IndexError, RecursionError):
        return
    record[name] = json.dumps(job).encode()


def many(record: Record, rng: random.Random) -> None:
    """Very many of what there are few of: processes, stalls, sent signals, lines, files."""
    name = _some(record, rng, "job.json")
    try:
        job = json.loads(_bytes_of(record, name))
        key = rng.choice([key for key, value in job.items() if isinstance(value, list) and value] or ["processes"])
        one = rng.choice(job[key])
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return
    count = rng.choice((50, 50, 1000, 1000, 20_000, 250_000 if rng.random() < 0.1 else 7))
    if isinstance(one, dict) and "pid" in one:
        base = {**one, "argv": one.get("argv", [])[:2]} if isinstance(one.get("argv"), list) else one
        job[key] += [{**base, "pid": 10**6 + at, "ppid": rng.choice((1, 10**6 + at - 1))} for at in range(count)]
    else:
        job[key] += [one] * count
    record[name] = json.dumps(job).encode()


def tree(record: Record, rng: random.Random) -> None:
    """One value in a JSON file, or in a line of a JSON lines file, of another type, size or depth."""
    name = _some(record, rng, ".json", ".jsonl")
    data = _bytes_of(record, name)
    rows = data.splitlines() if name.endswith(".jsonl") else [data]
    if not rows:
        return
    at = rng.randrange(len(rows))
    try:
        body = json.loads(rows[at])
    except (ValueError, RecursionError):
        return
    for _ in range(rng.choice((1, 1, 2, 8))):
        body = _changed(body, rng)
    text = json.dumps(body).replace("Infinity", "1e9999")
    if rng.random() < 0.05:
        text = text.replace("null", "[" * rng.choice((500, 100_000)), 1)
    rows[at] = text.encode()
    record[name] = b"\n".join(rows)


def _changed(body: Any, rng: random.Random) -> Any:
    """Returns the value with one leaf or branch replaced, doubled, removed or renamed."""
    if isinstance(body, dict) and body and rng.random() < 0.9:
        key = rng.choice(list(body))
        kind = rng.random()
        if kind < 0.08:
            return {other: value for other, value in body.items() if other != key}
        if kind < 0.14:
            return {**body, rng.choice(TEXTS): body[key]}
        return {**body, key: _changed(body[key], rng)}
    if isinstance(body, list) and body and rng.random() < 0.9:
        at = rng.randrange(len(body))
        kind = rng.random()
        if kind < 0.08:
            return body[:at] + body[at + 1 :]
        if kind < 0.14:
            return body[: at + 1] + body[at:]
        return [*body[:at], _changed(body[at], rng), *body[at + 1 :]]
    return rng.choice(TEXTS) if rng.random() < 0.4 else rng.choice(VALUES)


def text(record: Record, rng: random.Random) -> None:
    """Lines of an output or a source: some moved, doubled, from another file, or hostile."""
    name = _some(record, rng, ".txt", ".py", ".jsonl")
    lines = _bytes_of(record, name).split(b"\n")
    other = _bytes_of(record, _some(record, rng, ".txt")).split(b"\n")
    for _ in range(rng.choice((1, 3, 20))):
        at = rng.randrange(len(lines) + 1)
        kind = rng.random()
        if kind < 0.3:
            lines[at:at] = [rng.choice(TEXTS).encode("utf-8", "surrogatepass")]
        elif kind < 0.5:
            lines[at:at] = [rng.choice(other)]
        elif kind < 0.7:
            lines[at:at] = lines[max(0, at - 5) : at] * rng.choice((1, 3, 200))
        elif kind < 0.85 and at < len(lines):
            lines[at] = lines[at] + rng.choice(TEXTS).encode("utf-8", "surrogatepass")
        else:
            del lines[at : at + 2]
    record[name] = b"\n".join(lines)[: 8 << 20]


MUTATIONS: tuple[Mutation, ...] = (
    flip, cut, splice, swap, copy, drop, odd, folder, header, words, parents, many, tree, text,
)  # fmt: skip
WEIGHTS = (4, 3, 2, 2, 2, 2, 3, 1, 4, 6, 4, 2, 12, 6)

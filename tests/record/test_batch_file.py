"""A batches file as its writer makes it and the record reads it, also where its bytes are somebody else's."""

from __future__ import annotations

import random
import struct
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from diagnostics.agent.data_hooks.batch_file import BatchFile, call_path, print_of
from diagnostics.agent.data_hooks.batch_prints import Prints, leaves_of
from diagnostics.agent.shared import batch_layout as layout
from diagnostics.record.agent_bytes import AgentFileError
from diagnostics.record.batch_data import BatchSource, SourceKind
from diagnostics.record.batch_file import decode_batch_file


@dataclass
class Owner:
    """What a batches file needs of the agent's file."""

    path: str
    pid: int = 7
    start_ticks: int = 8


def written(folder: Path, *, batches: int = 3) -> tuple[BatchFile, Path]:
    """A file with one loader and one pass over it."""
    file = BatchFile(Owner(str(folder / "agent-7-8.bin")), str(folder))
    source = file.source("key", layout.KIND_LOADER, call_path(sys._getframe()), (), "dataset=Songs batch_size=2")
    one = file.new_pass(source)
    for number in range(batches):
        prints = Prints(2, 100 + number, 5, [10 * number + 1, 10 * number + 2], 1, False)
        one.batches, one.rows = one.batches + 1, one.rows + 2
        one.add_prints(prints)
        listed = print_of([number, number + 1])
        one.add_indices(listed)
        one.flags |= layout.FLAG_INDEXED
        at = file.add_batch(one, number, prints, [number, number + 1], listed, 0)
        file.note(at, 2, layout.FLAG_TRAINED)
    one.flags |= layout.FLAG_ENDED
    file.write_pass(one)
    return file, Path(file.path)


def read(path: Path) -> tuple[BatchSource, ...]:
    return decode_batch_file(path.read_bytes())


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    _, path = written(tmp_path)
    assert path.name == "batches-7-8.bin"
    (source,) = read(path)
    (one,) = source.passes
    assert (source.kind, dict(source.facts), source.sampler) == (
        SourceKind.LOADER, {"dataset": "Songs", "batch_size": "2"}, (),
    )  # fmt: skip
    assert [(frame.file, frame.function) for frame in source.built[:1]] == [(__file__, "written")]
    assert (one.number, one.batches, one.printed, one.rows, one.total, one.indexed, one.ended, one.epoch) == (
        0, 3, 3, 6, 15, True, True, None,
    )  # fmt: skip
    assert [(b.number, b.rows, b.whole, b.samples, b.indices, b.given, b.trained) for b in one.log] == [
        (0, 2, 100, (1, 2), (0, 1), 2, True),
        (1, 2, 101, (11, 12), (1, 2), 2, True),
        (2, 2, 102, (21, 22), (2, 3), 2, True),
    ]


def test_a_file_is_bounded_whatever_is_written(tmp_path: Path) -> None:
    file, path = written(tmp_path)
    for line in range(40):
        source = file.source(line, layout.KIND_LOADER, (), (), f"dataset=D{line}")
    assert source is None
    whole = Prints(128, 1, 2, list(range(128)), 1, False)
    one = file.new_pass(file.source("key", layout.KIND_LOADER, (), (), ""))
    for number in range(layout.BATCH_SLOTS + layout.LATE_SLOTS + 9):
        file.add_batch(one, number, whole, None, 0, 0)
    for _ in range(layout.PASS_SLOTS + 9):
        file.write_pass(file.new_pass(file.source("key", layout.KIND_LOADER, (), (), "")))
    assert path.stat().st_size == layout.TOTAL_BYTES
    sources = read(path)
    assert (len(sources), len(sources[0].passes)) == (layout.SOURCE_SLOTS, layout.PASS_SLOTS - 1)  # one was not


@pytest.mark.parametrize("seed", range(20))
def test_any_bytes_are_read_or_refused_with_a_reason(seed: int, tmp_path: Path) -> None:
    _, path = written(tmp_path)
    data, drawn = bytearray(path.read_bytes()), random.Random(seed)
    for _ in range(drawn.choice((1, 10, 1000))):
        at = drawn.choice((drawn.randrange(layout.BATCHES_OFFSET + 200), drawn.randrange(len(data))))
        data[at] = drawn.randrange(256)
    slots = (
        (layout.SOURCES_OFFSET, layout.SOURCE),
        (layout.PASSES_OFFSET, layout.PASS),
        (layout.BATCHES_OFFSET, layout.BATCH),
    )
    for at, form in slots:  # they look written and hold anything
        size = struct.calcsize(form)
        data[at : at + size] = struct.pack("<I", 1) + drawn.randbytes(size - 4)
    try:
        sources = decode_batch_file(bytes(data))
    except AgentFileError:
        return
    assert all(len(one.samples) <= layout.SAMPLE_SLOTS for s in sources for p in s.passes for one in p.log)


def test_a_file_of_another_size_or_kind_is_refused(tmp_path: Path) -> None:
    _, path = written(tmp_path)
    data = path.read_bytes()
    for wrong in (b"", data[:-1], b"X" + data[1:]):
        with pytest.raises(AgentFileError):
            decode_batch_file(wrong)


def test_a_batch_is_taken_apart_without_running_its_code() -> None:
    class Loud(dict):  # type: ignore[type-arg]
        def values(self) -> None:
            raise AssertionError

    deep: list[object] = [1.5]
    for _ in range(50):
        deep = [deep]
    marks = object(), object()
    assert leaves_of(Loud(a=marks[0], b=[marks[1], "text", 3])) == [marks[0], marks[1]]
    assert leaves_of({"names": ["a", "b"], "deep": deep, "nothing": None}) == [["a", "b"]]

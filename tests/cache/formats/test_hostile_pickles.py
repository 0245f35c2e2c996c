"""Pickles made to fill memory, time or the stack: an answer within bounds, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from diagnostics.cache.pickles.facts import facts_of
from diagnostics.cache.pickles.key_paths import MAX_KEY
from diagnostics.cache.pickles.opcodes import walk_pickle

MAGIC = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."
FRONT = MAGIC + b"\x80\x02M\xe9\x03." + b"\x80\x02}."  # magic number, protocol version, system facts
BACK = b"\x80\x02]."  # storage keys
STORAGE = b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x04tQ"
REBUILD = b"ctorch._utils\n_rebuild_tensor_v2\n"
VIEW = b"h\x01(h\x00K\x00K\x04\x85K\x01\x85\x89Ntr"[:-1] + b"R"
BEGIN = b"\x80\x02" + STORAGE + b"q\x00" + REBUILD + b"q\x01"


def nested(levels: int) -> bytes:
    """Returns a pickle of dicts in dicts, with a tensor in the last."""
    return BEGIN + b"}X\x03\x00\x00\x00key" * levels + VIEW + b"s" * levels + b"."


GREEDY = {
    "lists": b"\x80\x02(" + b"]" * 1_900_000 + b"l.",
    "dicts of dicts": nested(300_000),
    "one list of views": BEGIN + b"](" + VIEW * 150_000 + b"e.",
    "different storages": BEGIN
    + b"("
    + b"".join(
        b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x06\x00\x00\x00%06dX\x03\x00\x00\x00cpuK\x04tQ" % number
        for number in range(240_000)
    )
    + b"t.",
    "a list in itself": b"\x80\x02]q\x00" + b"h\x00a" * 500_000 + b".",
    "tuples of the same tuple": b"\x80\x02)" + b"2\x86" * 400_000 + b".",
    "a rebuilding of a rebuilding": BEGIN
    + b"ctorch._tensor\n_rebuild_from_type_v2\nq\x02"
    + b"(h\x02" * 200_000
    + b")"
    + b"NNt" * 200_000
    + b"R.",
    "a shape of a million dimensions": BEGIN + b"h\x01(h\x00K\x00(" + b"K\xff" * 1_000_000 + b"t)\x89NtR.",
    "bytes upon bytes": b"\x80\x03(" + (b"C\xc8" + b"x" * 200) * 150_000 + b"t.",
}
MEASURE = """
import sys, time
from diagnostics.cache.scan.one_file import scan_file
def peak():  # getrusage tells the peak of the process that started this one, too
    return int(open("/proc/self/status").read().partition("VmHWM:")[2].split()[0])
before, began = peak(), time.process_time()
scan = scan_file(sys.argv[1])
print(scan.format, peak() - before, time.process_time() - began)
"""


@pytest.mark.parametrize("kind", GREEDY)
def test_a_greedy_pickle_stays_within_256_mib_and_ends(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "greedy.pt"
    path.write_bytes(FRONT + GREEDY[kind] + BACK)
    result = subprocess.run([sys.executable, "-c", MEASURE, str(path)], capture_output=True, text=True, check=True)
    name, grown_kib, seconds = result.stdout.rsplit(maxsplit=2)
    assert name == "torch legacy"
    assert int(grown_kib) < 256 << 10
    assert float(seconds) < 60


def test_a_key_of_any_depth_is_cut_to_what_a_person_reads() -> None:
    (fact,) = facts_of(walk_pickle(nested(1000))).facts
    assert len(fact.key) <= MAX_KEY + 3
    assert fact.key.startswith("...")
    assert fact.key.endswith(".key.key")


def test_a_list_that_holds_itself_tells_its_tensor_once() -> None:
    facts = facts_of(walk_pickle(BEGIN + b"]q\x02(h\x02" + VIEW + b"q\x03h\x03h\x02e."))
    assert [(fact.key, fact.shape) for fact in facts.facts] == [("[1]", (4,))]


@pytest.mark.parametrize(
    "arguments",
    [b"N", b")", b"N\x85", b"(h\x00NNN\x89NtR"[:-1], b"(h\x00J\xff\xff\xff\xffK\x04\x85K\x01\x85\x89Nt"],
    ids=["none", "empty", "one", "nothings", "negative"],
)
def test_arguments_that_rebuild_nothing_are_walked_over(arguments: bytes) -> None:
    facts = facts_of(walk_pickle(BEGIN + b"h\x01" + arguments + b"R."))
    assert (facts.facts, facts.problems) == ((), ())


def test_a_view_beyond_its_storage_is_corrupt_as_torch_finds() -> None:
    (problem,) = facts_of(walk_pickle(BEGIN + b"h\x01(h\x00K\x02K\x04\x85K\x01\x85\x89NtR.")).problems
    assert (problem.name, problem.observed) == (
        "corrupt-file",
        "1 storage shorter than the tensors on them: storage 0 has 16 bytes, a tensor ends at byte 24",
    )


def test_a_change_of_a_class_itself_is_unsafe() -> None:
    walk = walk_pickle(b"\x80\x02ccollections\nOrderedDict\n}b.")
    assert list(walk.unsafe) == ["a change of collections.OrderedDict itself"]

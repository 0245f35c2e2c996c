from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from diagnostics.cache.scan.one_file import scan_file

SOURCES = ("clean.pt", "cuda.pt", "unsafe.pt", "protocol5.pt", "legacy_cuda.pt", "array.npy")


def mutated(data: bytes, seed: int) -> bytes:
    """Returns the data with bytes changed, cut out, doubled or swapped, the same for the same seed."""
    rng = random.Random(seed)
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        at = rng.randrange(len(changed))
        match rng.randrange(5):
            case 0 | 1:
                changed[at] = rng.randrange(256)
            case 2:
                changed[at : at + 4] = rng.choice((b"\xff\xff\xff\xff", b"\0\0\0\0", b"\xff\xff\xff\x7f"))
            case 3:
                del changed[at : at + rng.randrange(1, 40)]
            case _:
                changed[at:at] = changed[at : at + rng.randrange(1, 40)]
        changed = changed or bytearray(b"P")
    return bytes(changed)


@pytest.mark.parametrize("source", SOURCES)
def test_mutated_files_are_scanned_to_an_answer(torch_files: Path, tmp_path: Path, source: str) -> None:
    data = (torch_files / source).read_bytes()
    path = tmp_path / source
    for seed in range(200):
        path.write_bytes(mutated(data, seed))
        scan = scan_file(str(path))
        assert scan.format, seed  # its name promises a format: it is never passed over in silence


def test_bytes_of_no_format_at_all_are_scanned_to_an_answer(tmp_path: Path) -> None:
    rng = random.Random(7)
    path = tmp_path / "random.pt"
    for head in (b"", b"PK\3\4/data.pkl", b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.", b"\x93NUMPY\x01\x00"):
        for _ in range(50):
            path.write_bytes(head + rng.randbytes(rng.randrange(300)))
            assert scan_file(str(path)).problems


GREEDY = {
    "memo": (b"N" + b"\x94" * 1_900_000, "more than 1,000,000 memo entries"),
    "names": (b"ca\nb\n" * 2_000_000, "more than 2,000,000 opcodes"),
    "texts": (b"X\x02\x00\x00\x00\xff\xff" * 2_000_000, "more than 2,000,000 opcodes"),
}
MEASURE = """
import resource, sys
from diagnostics.cache.scan.one_file import scan_file
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(scan_file(sys.argv[1]).problems[0].observed)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize("kind", GREEDY)
def test_a_pickle_made_to_fill_the_memory_stays_within_256_mib(tmp_path: Path, kind: str) -> None:
    body, expected = GREEDY[kind]
    path = tmp_path / "greedy.pt"
    path.write_bytes(b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19." + body + b".")
    # In a child of its own: the peak of a process that has run other tests says nothing.
    result = subprocess.run([sys.executable, "-c", MEASURE, str(path)], capture_output=True, text=True, check=True)
    observed, grown_kib = result.stdout.splitlines()
    assert observed == expected
    assert int(grown_kib) < 256 << 10

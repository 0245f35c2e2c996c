"""What is worked out once for a folder's files repairs each of them as it would be repaired alone, byte by byte."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from diagnostics.cache.archives import zip_layout
from diagnostics.cache.file_bytes import DamagedFileError, FileBytes
from diagnostics.cache.patch import ByteRange, Patch
from diagnostics.cache.pickles.templates import KNOWN as KNOWN_FACTS
from diagnostics.cache.pickles.templates import KnownPickles
from diagnostics.cache.rewriting import torch_zip
from diagnostics.cache.scan.one_file import scan_file

WRITE = """
import sys, torch
torch.serialization.location_tag = lambda storage: "cuda:1"
for number in range(6):
    device = "".join(["cuda", ":1"])
    sample = {f"layer{index}": torch.arange(5.0 + index % 3) for index in range(int(sys.argv[2]))}
    sample |= {"name": f"run-{number}", "nu": number / 7, "index": number, "was on": device, "again": [device, device]}
    if number == 4:
        sample["nu"] = [sample["nu"]]  # another pickle, of another length
    if number == 5:
        sample["layer1"] = sample["layer0"]  # the same length is left to chance, the tensors differ
    torch.save(sample, f"{sys.argv[1]}/{'a' if number % 2 else 'b'}{number}.pt")
"""


@pytest.fixture(scope="module", params=[3, 300])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tagged")
    subprocess.run([sys.executable, "-c", WRITE, str(made), str(request.param)], check=True)
    return made


@pytest.fixture(autouse=True)
def _knows_nothing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    forget(monkeypatch)
    yield
    forget(monkeypatch)


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    zip_layout._known.clear()
    KNOWN_FACTS.exact.clear()
    KNOWN_FACTS.waiting.clear()
    KNOWN_FACTS.templates.clear()
    KNOWN_FACTS.exact_bytes = KNOWN_FACTS.template_bytes = 0
    KNOWN_FACTS.made = KNOWN_FACTS.used = 0  # where other tests' templates were of no use, no more would be made
    monkeypatch.setattr(torch_zip, "KNOWN", KnownPickles(torch_zip.on_cpu))


def repaired(path: Path, *, compact: bool) -> bytes:
    with FileBytes(str(path)) as file:
        patch = torch_zip.repair(file, compact=compact)
    assert isinstance(patch, Patch)
    old = path.read_bytes()
    return b"".join(old[p.offset : p.offset + p.size] if isinstance(p, ByteRange) else p for p in patch.pieces)


@pytest.mark.parametrize("compact", [False, True])
def test_a_file_among_others_is_repaired_as_it_is_alone(
    folder: Path, compact: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import torch

    paths = sorted(folder.iterdir())
    alone = []
    for path in paths:
        forget(monkeypatch)
        alone.append(repaired(path, compact=compact))
    forget(monkeypatch)
    for _ in range(2):
        together = [repaired(path, compact=compact) for path in paths]
        assert together == alone
    assert torch_zip.KNOWN.used > 0
    new = tmp_path / "new.pt"
    for path, content in zip(paths, together, strict=True):
        new.write_bytes(content)
        loaded, wanted = torch.load(new, weights_only=True), torch.load(path, map_location="cpu", weights_only=True)
        assert str(loaded) == str(wanted)
        assert loaded["was on"] == "cuda:1"


def test_a_scan_among_others_tells_what_a_scan_alone_tells(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [str(path) for path in sorted(folder.iterdir())]
    alone = []
    for path in paths:
        forget(monkeypatch)
        alone.append(scan_file(path))
    forget(monkeypatch)
    for _ in range(2):
        assert [scan_file(path) for path in paths] == alone
    assert KNOWN_FACTS.used > 0


def test_a_directory_that_was_changed_is_not_taken_for_a_known_one(folder: Path, tmp_path: Path) -> None:
    """The failing twin: one byte of a size in a directory of the same length."""
    first, second = sorted(folder.glob("a*.pt"))[:2]
    repaired(first, compact=False)
    whole = bytearray(second.read_bytes())
    at = whole.rfind(b"data/0", 0, whole.rfind(b"PK\5\6"))
    entry = whole.rfind(b"PK\1\2", 0, at)
    whole[entry + 24] ^= 4  # of its size: less than its tensor has
    changed = tmp_path / "changed.pt"
    changed.write_bytes(bytes(whole))
    assert "corrupt-file" in [problem.name for problem in scan_file(str(changed)).problems]
    whole[entry] = 0  # no entry at all
    changed.write_bytes(bytes(whole))
    with FileBytes(str(changed)) as file, pytest.raises(DamagedFileError, match="directory"):
        torch_zip.repair(file, compact=False)


def test_what_is_kept_of_large_pickles_is_bounded() -> None:
    known: KnownPickles[int] = KnownPickles(len)
    for number in range(20):
        known.told(bytes((1 << 19) + number))
    assert known.exact_bytes == sum(map(len, known.exact)) <= 4 << 20
    assert known.told(bytes(2 << 20)) == 2 << 20  # too large to be kept
    assert known.exact_bytes <= 4 << 20


def test_several_threads_of_a_repair_share_what_is_known() -> None:
    known: KnownPickles[int] = KnownPickles(len)
    pickles = [bytes(1000 + number) for number in range(400)]

    def ask(_: int) -> list[int]:
        return [known.told(data) for data in pickles]

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(8)))
    assert answers == [[len(data) for data in pickles]] * 8
    assert known.exact_bytes == sum(map(len, known.exact))

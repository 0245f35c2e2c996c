"""Real distributed checkpoints of torch, their damaged and hostile twins."""

from __future__ import annotations

import io
import os
import pickle
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import pytest

from diagnostics.cache.file_scan import FileScan, Problem, TensorFact
from diagnostics.cache.folder_checks import unfinished
from diagnostics.cache.formats.dcp_pickle import SAFE_HERE
from diagnostics.cache.pickles.globals import SAFE_GLOBALS
from diagnostics.cache.scan.one_file import scan_file
from diagnostics.core.findings import Severity

WRITER = Path(__file__).parents[2] / "zoo" / "checkpoint_writer.py"


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of checkpoints that a real torch wrote, read-only for the tests."""
    folder = tmp_path_factory.mktemp("checkpoints")
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, str(WRITER), str(folder)], check=True, env=environment, timeout=600)
    return folder


@pytest.fixture
def clean(written: Path, tmp_path: Path) -> Path:
    """A checkpoint of its own to damage."""
    return Path(shutil.copytree(written / "clean", tmp_path / "clean"))


def names(scan: FileScan) -> list[str]:
    return [problem.name for problem in scan.problems]


def scans(folder: Path) -> dict[str, FileScan]:
    return {path.name: scan_file(str(path)) for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("folder", ["clean", "threads", "one_file_a_tensor", "many_threads", "rewritten"])
def test_healthy_checkpoints_are_silent(written: Path, folder: str) -> None:
    found = scans(written / folder)
    assert {scan.problems for scan in found.values()} == {()}
    assert {scan.code for name, scan in found.items() if name.endswith(".distcp") and scan.size} == {"C107"}
    assert found[".metadata"].code == "C108"
    assert sum(scan.tensors for scan in found.values()) == (8 if folder == "rewritten" else 5)


def test_a_thread_with_nothing_to_save_leaves_an_empty_part_which_is_no_problem(written: Path) -> None:
    empty = [scan for scan in scans(written / "many_threads").values() if not scan.size]
    assert {scan.skipped for scan in empty} == {"empty"}


def test_the_metadata_says_key_type_and_shape(written: Path) -> None:
    facts = {fact.key: fact for fact in scan_file(str(written / "clean" / ".metadata")).facts}
    assert facts["model.w"] == TensorFact(
        key="model.w", dtype="float32", shape=(30, 40), bytes=4800, storage_bytes=4800
    )
    assert {(key, fact.dtype, fact.shape) for key, fact in facts.items()} == {
        ("model.w", "float32", (30, 40)),
        ("model.b", "bfloat16", (5,)),
        ("moments.0", "float32", (3,)),
        ("moments.1", "int64", (2,)),
    }


def test_a_tag_inside_a_pickled_object_is_named_by_its_key(written: Path) -> None:
    scan = scan_file(str(written / "cuda" / "__0_0.distcp"))
    assert {device: tally.storages for device, tally in scan.devices.items()} == {"cpu": 4, "cuda:3": 1}
    (problem,) = scan.problems
    assert problem.name == "cuda-in-cache"
    assert problem.observed.startswith("1 storage tagged cuda:3 (key ")
    assert problem.observed.endswith("/0 = loader.order)")


def test_a_row_of_archives_is_known_by_its_content(written: Path, tmp_path: Path) -> None:
    shutil.copy(written / "clean" / "__0_0.distcp", tmp_path / "renamed.bin")
    assert scan_file(str(tmp_path / "renamed.bin")).code == "C107"


def test_one_archive_alone_is_a_torch_file_unless_its_name_says_otherwise(torch_files: Path, tmp_path: Path) -> None:
    assert scan_file(str(torch_files / "clean.pt")).code == "C101"
    shutil.copy(torch_files / "clean.pt", tmp_path / "__0_0.distcp")
    assert scan_file(str(tmp_path / "__0_0.distcp")).code == "C107"


def test_a_part_cut_off_anywhere_is_found_by_itself_or_by_the_metadata(clean: Path) -> None:
    part = clean / "__0_0.distcp"
    whole = part.read_bytes()
    for size in [*range(0, len(whole), 97), len(whole) - 1]:
        part.write_bytes(whole[:size])
        found = scans(clean)
        assert names(found[".metadata"]) == ["truncated-part"], size
        assert names(found["__0_0.distcp"]) in ([], ["truncated-file"]), size
        assert names(found["__0_0.distcp"]) or size == 0 or whole[size - 22 : size - 18] == b"PK\5\6", size
    part.write_bytes(whole[:5000])
    assert scan_file(str(clean / ".metadata")).problems == (
        Problem(
            name="truncated-part",
            observed=f"1 of 1 parts cut off: __0_0.distcp has 5000 of {len(whole)} bytes",
            expected="whole items (of the first: loader.order, step, model.w, model.b, moments.0)",
            place="storage_data",
        ),
    )


def test_a_part_that_is_cut_off_says_in_which_piece(clean: Path) -> None:
    part = clean / "__0_0.distcp"
    whole = part.read_bytes()
    begin = whole.index(b"PK\5\6") + 22
    part.write_bytes(whole[: begin + 300])
    (problem,) = scan_file(str(part)).problems
    assert problem.observed == f"it ends within the piece that begins at byte {begin}"


def test_a_damaged_piece_is_told_and_the_others_are_read(clean: Path) -> None:
    part = clean / "__0_0.distcp"
    data = bytearray(part.read_bytes())
    at = data.rindex(b"archive/data.pkl", 0, data.index(b"PK\1\2", 6000))
    data[at + 16 : at + 400] = b"\xff" * 384
    part.write_bytes(data)
    scan = scan_file(str(part))
    assert names(scan) == ["corrupt-file"]
    assert scan.tensors == 4


def test_bytes_of_a_piece_that_are_gone_are_told(clean: Path) -> None:
    part = clean / "__0_0.distcp"
    data = part.read_bytes()
    part.write_bytes(data[:3000] + data[3100:])
    assert set(names(scan_file(str(part)))) == {"corrupt-file"}
    part.write_bytes(bytes(len(data)))
    assert names(scan_file(str(part))) == ["truncated-file"]


def test_zero_bytes_between_pieces_are_padding(clean: Path) -> None:
    part = clean / "__0_0.distcp"
    data = part.read_bytes()
    end = data.index(b"PK\5\6") + 22
    part.write_bytes(data[:end] + bytes(500) + data[end:] + bytes(100))
    scan = scan_file(str(part))
    assert (scan.problems, scan.tensors) == ((), 5)


def test_a_missing_part_is_named(clean: Path) -> None:
    (clean / "__0_0.distcp").rename(clean / "elsewhere.distcp")
    assert scan_file(str(clean / ".metadata")).problems == (
        Problem(
            name="missing-file",
            observed="1 of 1 files not there: __0_0.distcp",
            expected="every file that it names",
            place="storage_data",
        ),
    )


def test_metadata_cut_off_anywhere_is_found(clean: Path) -> None:
    metadata = clean / ".metadata"
    whole = metadata.read_bytes()
    for size in range(60, len(whole)):
        metadata.write_bytes(whole[:size])
        assert names(scan_file(str(metadata))) == ["truncated-file"], size


def test_metadata_that_would_run_code_is_told(clean: Path) -> None:
    metadata = clean / ".metadata"
    whole = metadata.read_bytes()
    # Before its last opcode the metadata's pickle calls something and drops the result.
    metadata.write_bytes(whole[:-1] + b"cos\nsystem\n(S'touch marker'\ntR0.")
    (problem,) = scan_file(str(metadata)).problems
    assert (problem.name, problem.observed) == (
        "unsafe-pickle",
        f"loading it would import os.system (byte {len(whole) - 1})",
    )


@pytest.mark.parametrize(
    ("call", "unsafe"),
    [
        (b"ctorch.distributed.checkpoint.metadata\n_MEM_FORMAT_ENCODING\nS'TORCH_PRESERVE_FORMAT'\n", False),
        (b"ctorch.distributed.checkpoint.metadata\n_MEM_FORMAT_ENCODING\nS'__init__'\n", True),
        (b"ctorch.distributed.checkpoint.metadata\nStorageMeta\nS'system'\n", True),
    ],
)
def test_getattr_is_safe_of_the_members_of_the_metadata_s_enumeration_alone(
    clean: Path, call: bytes, unsafe: bool
) -> None:
    metadata = clean / ".metadata"
    for opcodes in (b"cbuiltins\ngetattr\n(%btR0.", b"(cbuiltins\ngetattr\n%bo0."):
        metadata.write_bytes(metadata.read_bytes()[:-1] + opcodes % call)
        refused = unsafe or opcodes.startswith(b"(")  # nothing writes the second form
        assert names(scan_file(str(metadata))) == (["unsafe-pickle"] if refused else [])
        metadata.write_bytes(metadata.read_bytes()[: -len(opcodes % call)] + b".")


def test_paths_that_lead_out_are_told_and_never_opened(clean: Path) -> None:
    (clean.parent / "secret").write_bytes(b"")
    metadata = clean / ".metadata"
    whole = metadata.read_bytes()
    assert whole.count(b"__0_0.distcp") == 1
    for path in (b"../secret!!!", b"/etc/passwd!", b"a/../../b!!!", b"C:\\windows!!"):
        metadata.write_bytes(whole.replace(b"__0_0.distcp", path))
        assert names(scan_file(str(metadata))) == ["unsafe-path"], path


def test_a_pickle_of_something_else_is_no_metadata(tmp_path: Path) -> None:
    (tmp_path / ".metadata").write_bytes(b"\x80\x04ctorch.distributed.checkpoint.metadata\nStorageMeta\n)\x81.")
    assert names(scan_file(str(tmp_path / ".metadata"))) == ["corrupt-file"]


def test_hostile_metadata_costs_little_and_gives_a_finding(clean: Path) -> None:
    metadata = clean / ".metadata"
    begin = b"\x80\x04ctorch.distributed.checkpoint.metadata\nMetadata\n)\x81"
    cyclic = b"}q\0X\x0c\0\0\0storage_datah\0sb."
    strange = b"}X\x0c\0\0\0storage_data}(K\1K\2]]\x85u" + b"sb."
    for tail in (cyclic, strange, b"]b.", b"b.", b"." * 9, b"0.", b"}" * 300_000 + b".", b"]" * 2_100_000 + b"."):
        metadata.write_bytes(begin + tail)
        scan_file(str(metadata))
    assert [(each.name, each.severity) for each in scan_file(str(metadata)).problems] == [
        ("not-examined", Severity.INFO)
    ]


def test_a_part_of_end_records_only_costs_little(tmp_path: Path) -> None:
    path = tmp_path / "__0_0.distcp"
    # Each claims an archive that begins where it does itself.
    record = b"PK\3\4" + bytes(26) + b"a/data.pkl" + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 0, 0, 0, 40, 0)
    path.write_bytes(record * 120_000)
    assert "not-examined" in names(scan_file(str(path)))


def test_compressed_parts_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "__0_0.distcp").write_bytes(b"\x28\xb5\x2f\xfd" + bytes(100))
    assert scan_file(str(tmp_path / "__0_0.distcp")).skipped == "compressed with zstd"


def test_safetensors_after_pickled_objects_are_whole(written: Path) -> None:
    scan = scan_file(str(written / "safetensors" / "__0_0.distcp"))
    assert (scan.code, scan.problems) == ("C107", ())
    assert scan_file(str(written / "safetensors" / ".metadata")).problems == ()


def told(folder: Path) -> list[tuple[str, str, int]]:
    run = unfinished.begin()
    for path in sorted(folder.rglob("*")):
        run.add(FileScan(path=str(path), size=1, skipped="whatever it is"))
    return [(each.path, each.problem.observed, each.files) for each in run.finish()]


def test_a_checkpoint_without_its_metadata_is_unfinished(written: Path, clean: Path) -> None:
    assert told(written) == []
    (clean / ".metadata").write_bytes(b"")
    assert told(clean) == [(str(clean), "1 .distcp file, no .metadata", 1)]
    (clean / ".metadata").rename(clean / ".metadata.tmp")
    assert told(clean) == [(str(clean), "1 .distcp file, no .metadata", 1)]
    (clean / "__0.metadata").write_bytes(b"x")
    assert told(clean) == [], "each rank may save for itself"


def test_the_metadata_need_not_be_among_the_files_that_are_scanned(clean: Path) -> None:
    run = unfinished.begin()
    run.add(FileScan(path=str(clean / "__0_0.distcp"), size=1))
    assert [*run.finish()] == []


def test_the_classes_of_real_metadata_are_all_known(written: Path) -> None:
    class Names(pickle.Unpickler):
        found: ClassVar[set[str]] = set()

        def find_class(self, module: str, name: str) -> object:
            self.found.add(f"{module}.{name}")
            return super().find_class(module, name)

    for path in written.glob("*/.metadata"):
        Names(io.BytesIO(path.read_bytes())).load()
    assert SAFE_HERE & Names.found
    # Some Pythons (3.11.2 is one) pickle a member of an enumeration as getattr(class, "NAME").
    assert Names.found - {"builtins.getattr"} <= SAFE_HERE | SAFE_GLOBALS

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from diagnostics.cache.file_scan import FileScan, Problem, Tally, TensorFact
from diagnostics.cache.scan.one_file import scan_file
from diagnostics.core.findings import Severity


def test_an_array_file_is_described_and_has_no_device_of_its_own(torch_files: Path) -> None:
    path = torch_files / "array.npy"
    assert scan_file(str(path)) == FileScan(
        path=str(path),
        size=path.stat().st_size,
        code="C103",
        format="npy",
        devices={"cpu": Tally(storages=1, bytes=24)},
        dtypes={"float16": Tally(storages=1, bytes=24)},
        tensors=1,
        facts=(TensorFact(key="", dtype="float16", shape=(4, 3), bytes=24, storage_bytes=24),),
    )


def test_an_array_of_objects_is_unsafe(torch_files: Path) -> None:
    problems = scan_file(str(torch_files / "objects.npy")).problems
    assert [problem.observed for problem in problems] == ["an array of objects: loading it would unpickle them"]


def test_an_array_file_cut_at_any_length_is_never_clean(torch_files: Path, tmp_path: Path) -> None:
    whole = (torch_files / "array.npy").read_bytes()
    path = tmp_path / "cut.npy"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert [problem.name for problem in scan_file(str(path)).problems] == ["truncated-file"], length


def array_file(header: bytes, data: bytes = b"", *, version: bytes = b"\x01\x00") -> bytes:
    width = 2 if version == b"\x01\x00" else 4
    return b"\x93NUMPY" + version + len(header).to_bytes(width, "little") + header + data


def fields(descr: str, shape: str) -> bytes:
    return f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}".encode()


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"[1]",
        b"{'descr': '<f4'}",
        fields("'<f4'", "(-1,)"),
        fields("'<f4'", "(1.5,)"),
        fields("'<f4'", "(True,)"),
        fields("'<f4'", "3"),
        fields("'q'", "()"),
        fields("'<f5'", "()"),
        fields("[]", "()"),
        fields("[('a',)]", "()"),
        fields("'<f4'", "()")[:-1] + b", 'more': 1}",
        fields("'<f4'", f"({2**70},)"),
        fields("'<f4'", f"({2**40}, {2**40})"),
        fields("'<f4'", "(" + "9" * 4000 + ",)"),
        fields("[('a', '<f4', (" + "9" * 1000 + ",))]", "()"),
        fields("'<f4'", "(" + "1," * 65 + ")"),
        fields("[('a', " * 30 + "'<f4'" + ")]" * 30, "()"),
    ],
)
def test_a_header_of_nonsense_is_corrupt(tmp_path: Path, header: bytes) -> None:
    path = tmp_path / "odd.npy"
    path.write_bytes(array_file(header) + b"\0" * 64)
    assert [problem.name for problem in scan_file(str(path)).problems] == ["corrupt-file"]


@pytest.mark.parametrize(
    "text", ["(" * 9000, "-" * 9000 + "1", "not " * 2000, "1+" * 4500 + "1", "lambda:" * 1200, "[" * 190, "f''" * 3000]
)
def test_a_header_made_to_overflow_the_parser_is_corrupt(tmp_path: Path, text: str) -> None:
    path = tmp_path / "deep.npy"
    path.write_bytes(array_file(text.encode()))
    assert [problem.observed for problem in scan_file(str(path)).problems] == ["the header is no plain dictionary"]


def test_a_header_over_the_limit_of_numpy_is_corrupt_as_it_is_for_numpy(tmp_path: Path) -> None:
    path = tmp_path / "wide.npy"
    np.save(path, np.zeros(2, dtype=[(f"field_{index:04}", "<f4") for index in range(1000)]))
    with pytest.raises(ValueError, match="is large and may not be safe"):
        np.load(path)
    (problem,) = scan_file(str(path)).problems
    assert (problem.name, problem.observed) == (
        "corrupt-file",
        "a header of 23,094 bytes; numpy reads no more than 10,000",
    )


ARRAYS = {
    "no axis": np.float32(1),
    "empty": np.zeros((0, 3)),
    "fortran": np.asfortranarray(np.zeros((3, 5), dtype="<i8")),
    "text": np.array(["a", "bcd"]),
    "bytes": np.array([b"a", b"bcd"]),
    "bool": np.ones(7, dtype=bool),
    "time": np.zeros(3, dtype="<M8[ns]"),
    "span": np.zeros(3, dtype="<m8[25s]"),
    "complex": np.zeros(3, dtype="<c8"),
    "void": np.zeros(3, dtype="V7"),
    "record": np.zeros(3, dtype=[("a", "<f4"), ("b\\", [("c", "i1"), ("d", "<U3")]), ("e", "<f8", (2, 3))]),
    "aligned": np.zeros(3, dtype=np.dtype([("a", "i1"), ("b", "<f8")], align=True)),
    "titles": np.zeros(3, dtype=[(("title", "name"), "<f4"), ("ü", "<i2", 4)]),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_every_kind_of_array_is_clean_whole_and_truncated_one_byte_short(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "array.npy"
    np.save(path, ARRAYS[kind])
    scan = scan_file(str(path))
    (fact,) = scan.facts
    assert (scan.problems, fact.shape, fact.bytes) == ((), ARRAYS[kind].shape, ARRAYS[kind].nbytes)
    path.write_bytes(path.read_bytes()[:-1])
    assert [problem.name for problem in scan_file(str(path)).problems] == ["truncated-file"]


def test_a_header_of_python_2_is_read(tmp_path: Path) -> None:
    path = tmp_path / "old.npy"
    path.write_bytes(array_file(fields("'<f4'", "(3L, 2L)"), b"\0" * 24))
    assert (scan_file(str(path)).problems, scan_file(str(path)).facts[0].shape) == ((), (3, 2))


def test_the_other_byte_order_is_part_of_the_type(tmp_path: Path) -> None:
    path = tmp_path / "big.npy"
    np.save(path, np.zeros(3, dtype=">f4"))
    assert (scan_file(str(path)).problems, scan_file(str(path)).facts[0].dtype) == ((), "float32 big-endian")


def test_a_field_of_objects_is_unsafe(tmp_path: Path) -> None:
    path = tmp_path / "mixed.npy"
    np.save(path, np.zeros(2, dtype=[("a", "<f4"), ("b", object)]), allow_pickle=True)
    assert [problem.name for problem in scan_file(str(path)).problems] == ["unsafe-pickle"]


def test_more_than_a_page_after_the_array_is_a_warning_and_a_second_array_is_not(tmp_path: Path) -> None:
    path = tmp_path / "longer.npy"
    with path.open("wb") as file:
        np.save(file, np.zeros(1000))
        np.save(file, np.zeros(1000))
    assert scan_file(str(path)).problems == ()
    path.write_bytes(path.read_bytes().replace(b"\x93NUMPY", b"\0" * 6).replace(b"\0" * 6, b"\x93NUMPY", 1))
    assert scan_file(str(path)).problems == (
        Problem(
            name="trailing-data",
            observed="16256 bytes, 8128 of them after the array",
            expected="8128 bytes for shape (1000,)",
            place="byte 8128",
            severity=Severity.WARNING,
        ),
    )
    path.write_bytes(path.read_bytes()[: 8128 + 4096])
    assert scan_file(str(path)).problems == ()

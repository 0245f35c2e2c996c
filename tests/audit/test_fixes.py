"""Safe changes: shown as a diff, written whole or not at all, with what the file was besides kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from rules_for_tests import WAITS, rule

from diagnostics.audit import files, fixes
from diagnostics.audit.engine import audit
from diagnostics.audit.rule import Edit, Violation
from diagnostics.core.errors import DoctorError
from diagnostics.static.program.project_file import ProjectFile


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def changes(path: Path, check: object = None) -> list[fixes.FileChange]:
    one = files.read(path, str(path))
    assert isinstance(one, ProjectFile)
    rules = {"A901": rule("A901", check) if check else WAITS}
    return list(fixes.changes(audit([one], rules).found))


def written(path: Path, raw: bytes) -> bytes:
    path.write_bytes(raw)
    for change in changes(path):
        fixes.write(change, path)
    return path.read_bytes()


def test_the_diff_shows_what_is_written(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = 1\nwait()\n")
    (change,) = changes(path)
    assert list(change.diff()) == [
        f"--- {path}",
        f"+++ {path}",
        "@@ -1,2 +1,2 @@",
        " x = 1",
        "-wait()",
        "+wait(timeout=60)",
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"wait()\r\nx = 1\r\n", b"wait(timeout=60)\r\nx = 1\r\n"),
        (b"x = 1\rwait()", b"x = 1\rwait(timeout=60)"),
        (b"\xef\xbb\xbfwait()\n", b"\xef\xbb\xbfwait(timeout=60)\n"),
        (
            "# coding: latin-1\né = wait()\n".encode("latin-1"),
            "# coding: latin-1\né = wait(timeout=60)\n".encode("latin-1"),
        ),
        ("é = 'ü'; wait(); wait()".encode(), "é = 'ü'; wait(timeout=60); wait(timeout=60)".encode()),
        (b"x = 1\n\x0c\nwait()\n", b"x = 1\n\x0c\nwait(timeout=60)\n"),
    ],
)
def test_line_ends_encoding_and_the_last_line_stay_as_they_were(tmp_path: Path, before: bytes, after: bytes) -> None:
    assert written(tmp_path / "a.py", before) == after


def test_mode_bits_and_links_stay_and_nothing_else_is_left(tmp_path: Path) -> None:
    real, link = tmp_path / "real.py", tmp_path / "link.py"
    real.write_text("wait()\n")
    real.chmod(0o750)
    link.symlink_to(real)
    (change,) = changes(link)
    fixes.write(change, link)
    assert (real.read_text(), real.stat().st_mode & 0o777, link.is_symlink()) == ("wait(timeout=60)\n", 0o750, True)
    assert names(tmp_path) == ["link.py", "real.py"]


def test_a_file_of_several_names_is_not_parted(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("wait()\n")
    (tmp_path / "b.py").hardlink_to(path)
    (change,) = changes(path)
    with pytest.raises(DoctorError, match=r"a\.py has 2 names \(hard links\), which a new file would part"):
        fixes.write(change, path)
    assert (path.read_text(), path.samefile(tmp_path / "b.py"), names(tmp_path)) == ("wait()\n", True, ["a.py", "b.py"])


def test_a_file_that_changed_since_it_was_read_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("wait()\n")
    (change,) = changes(path)
    path.write_text("wait()  # mine\n")
    with pytest.raises(DoctorError, match="has changed since it was read"):
        fixes.write(change, path)
    assert path.read_text() == "wait()  # mine\n"
    assert names(tmp_path) == ["a.py"]


def edits(*several: Edit) -> object:
    def check(file: ProjectFile, project: object) -> object:
        for edit in several:
            yield Violation(file=file, line=edit.start[0], column=edit.start[1] + 1, title="t", fix="f", edits=(edit,))

    return check


@pytest.mark.parametrize(
    ("several", "after"),
    [
        # Two of them overlap: the first is made, the other one at the next run.
        ((Edit(start=(1, 0), end=(1, 1), text="y"), Edit(start=(1, 0), end=(1, 5), text="z = 2")), "y = 1\n"),
        # The same line of import, wanted twice, is put in once.
        ((Edit(start=(1, 0), end=(1, 0), text="import a\n"),) * 2, "import a\nx = 1\n"),
        # What would not parse any more is not made.
        ((Edit(start=(1, 4), end=(1, 5), text=")"),), None),
        ((Edit(start=(9, 0), end=(9, 0), text="a"),), None),
        ((Edit(start=(2, 0), end=(2, 0), text="a = 2\n"),), "x = 1\na = 2\n"),
    ],
)
def test_edits_that_do_not_fit_are_left(tmp_path: Path, several: tuple[Edit, ...], after: str | None) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    assert [change.after for change in changes(path, edits(*several))] == ([] if after is None else [after])


def test_notebooks_and_files_that_cannot_be_written_back_are_not_edited(tmp_path: Path) -> None:
    book = tmp_path / "a.ipynb"
    book.write_text('{"cells": [{"cell_type": "code", "source": "wait()"}]}')
    shell = tmp_path / "a.sh"
    shell.write_bytes(b"\xff wait\n")
    assert changes(book) == []
    assert changes(shell, edits(Edit(start=(1, 0), end=(1, 0), text="x"))) == []

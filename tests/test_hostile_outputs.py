"""Whatever a job writes, it is read and diagnosed in time; the long version: tests/benchmarks/output_fuzz.py."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from diagnostics.core import redaction
from diagnostics.core.line_clipping import HEAD, TAIL, clipped_lines
from diagnostics.diagnosis.engine import examine_logs

BENCHMARKS = Path(__file__).parent / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
from output_fuzz import PIECES, one_case  # noqa: E402

DOCTOR = (sys.executable, "-c", "from diagnostics.cli import main; main()")
ERROR = 'Traceback (most recent call last):\n  File "train.py", line 3, in main\nKeyError: 1'


@pytest.mark.parametrize("name", PIECES)
def test_a_hostile_output_is_diagnosed_and_no_signature_is_stuck_in_it(name: str, tmp_path: Path) -> None:
    kind, _, wrong = one_case(random.Random(7), 60_000, tmp_path / "case", name)
    assert (kind, wrong) == (name, "")


def test_a_job_that_prints_megabytes_without_a_line_end_and_fails_has_its_report(tmp_path: Path) -> None:
    done = subprocess.run(
        [*DOCTOR, "run", "--report-dir", "report", "--", sys.executable, "-c",
         "import sys; sys.stdout.write('a b' * (1 << 20)); sys.exit(1)"],
        cwd=tmp_path, capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, b"a b" * (1 << 20))
    assert "characters left out" in (tmp_path / "report" / "record" / "output" / "all.txt").read_text()
    assert (tmp_path / "report" / "report.md").read_text().startswith("# Run report\n\n**The job crashed")


def test_what_stands_at_the_end_of_a_very_long_line_is_still_found(tmp_path: Path) -> None:
    for before in ("\r 3% |#|" * 50_000 + "\r", "x y " * 200_000 + "\n"):
        (tmp_path / "train.log").write_text(before + ERROR)
        report = examine_logs([tmp_path / "train.log"])
        assert (report.failure_class, report.location) == ("python-exception", "train.py:3")


def test_a_line_is_clipped_once_in_the_middle_and_says_so() -> None:
    text = "head " + "m" * 100_000 + " tail: KeyError\nshort\n"
    clipped = clipped_lines(text)
    first, second, rest = clipped.split("\n")
    assert (second, rest) == ("short", "")
    assert first.startswith("head m")
    assert first.endswith(f"{len(text) - 7 - HEAD - len(' tail: KeyError')} characters left out ... tail: KeyError")
    assert len(first) < HEAD + TAIL + 64
    assert clipped_lines(clipped) == clipped


def test_lines_of_ordinary_length_are_left_as_they_are() -> None:
    text = "epoch 1\n" + "k" * HEAD + "\n\n  indented\n"
    assert clipped_lines(text) is text


def test_a_carriage_return_ends_a_line_and_many_of_them_end_one() -> None:
    assert clipped_lines("1%\r2%\r\nnext\r\r\rlast") == "1%\n2%\nnext\nlast"


def test_no_secret_is_cut_off_its_name() -> None:
    secret = "hunter2" * 3000
    for text in (
        f"{'x' * 9000} password={secret} {'y' * 9000}",
        f"password={secret}",
        f"{'x ' * 20_000}password={secret}",
    ):
        assert "hunter2" not in redaction.text(clipped_lines(text))

"""Whatever a job writes, it is read and diagnosed in time; the long version: tests/benchmarks/output_fuzz.py."""

from __future__ import annotations

import io
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from diagnostics.core import redaction
from diagnostics.core.line_clipping import HEAD, TAIL, clipped_lines
from diagnostics.diagnosis.engine import examine_logs
from diagnostics.record.untrusted_files import MAX_TEXT_BYTES, read_output
from diagnostics.supervisor import output_copies

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
        cwd=tmp_path, capture_output=True, timeout=600, check=False,
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


TOLD_ONCE = "hunter2Zq9x"
FORMS = (
    "password: {}", "--password {}", "postgres://me:{}@db/x", '"password": "{}"', "aws_secret_access_key = {}",
    "Authorization: Bearer {}",
)  # fmt: skip


def left_of_it(text: str) -> set[str]:
    """Returns the pieces of the secret that a text still has."""
    return {TOLD_ONCE[at : at + 4] for at in range(len(TOLD_ONCE) - 3)} & {text[at : at + 4] for at in range(len(text))}


@pytest.mark.parametrize("form", FORMS)
def test_no_cut_inside_a_line_parts_a_secret_from_what_tells_it(form: str) -> None:
    told = form.format(TOLD_ONCE)
    for shift in range(-1, len(told) + 2, 2):
        for text in (
            ("x " * HEAD)[: HEAD - shift] + told + " y" * 20_000,
            "x " * 20_000 + told + (" y" * TAIL)[: TAIL - len(told) + shift],
        ):
            assert left_of_it(redaction.text(clipped_lines(text))) == set(), shift


@pytest.mark.parametrize("form", FORMS)
def test_no_cut_between_kept_bytes_parts_a_secret_from_what_tells_it(form: str, tmp_path: Path) -> None:
    told = form.format(TOLD_ONCE)
    for shift in range(0, len(told), 3):
        head, tail = "x " * 8000 + told[:shift], told[shift:] + " y" * 8000
        assert left_of_it(kept(tmp_path, head, tail, 7)) == set(), shift
        # The last copies get little: they are cut by the keeper, where a quarter of that ends or the rest begins.
        quarter = output_copies.LEAST_BYTES // 4
        first = ("x " * quarter)[: quarter - shift] + told + " y" * 8000
        last = "x " * 8000 + told + (" y" * 8000)[: 3 * quarter - len(told) + shift]
        assert left_of_it(kept(tmp_path, first, last, 0, copies=2000)) == set(), shift


def kept(folder: Path, head: str, tail: str, left_out: int, copies: int = 1) -> str:
    """Returns what the keeper makes of a process's output; of so many copies all others are empty."""
    stream = io.BytesIO()
    stream.write(json.dumps(["10-5.stdout.txt", len(head), len(tail), left_out]).encode() + b"\n")
    stream.write((head + tail).encode())
    stream.write(b'["none", 0, 0, 0]\n' * (copies - 1))
    stream.seek(0)
    output_copies.keep(stream, folder)
    return (folder / "10-5.stdout.txt").read_text()


def test_a_progress_bar_is_kept_by_its_turns_on_both_sides_of_a_cut(tmp_path: Path) -> None:
    bar = "".join(f"\r{step} of 999" for step in range(100, 1000))
    assert kept(tmp_path, bar[:1000], bar[-1000:], 7) == (
        "\n" + "".join(f"{step} of 999\n" for step in range(100, 190)) + "\n... 7 bytes left out ...\n\n"
        + "\n".join(f"{step} of 999" for step in range(910, 1000))
    )  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_no_cut_in_a_log_that_is_too_long_to_be_read_parts_a_secret(form: str, tmp_path: Path) -> None:
    told = form.format(TOLD_ONCE)
    half, shift = MAX_TEXT_BYTES // 2, form.index("{}")
    (tmp_path / "train.log").write_text(
        ("x " * half)[: half - shift] + told + " y" * half + told + (" z" * half)[: half - len(told) + shift]
    )
    shown = redaction.text(read_output(tmp_path / "train.log"))
    assert left_of_it(shown) == set()
    assert shown.startswith("x x x")
    assert shown.rstrip().endswith(" z z z")

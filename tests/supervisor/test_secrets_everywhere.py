"""300 secrets in 30 places reach no file that the doctor writes and no line that it says."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import planted_job
import pytest
from jobs import run

from diagnostics.agent.shared import redaction as hiding
from diagnostics.core import redaction

COMMANDS = (
    ("diagnose", "--log", "saved.log"),
    ("diagnose", "report"),
    ("diagnose", "report", "--json"),
    ("audit", "--no-cache", "-v", "audited", "run.sh", "inner.sh", "settings.sh", "train.py", "other.py"),
    ("audit", "--no-cache", "--json", "audited", "train.py", "other.py", "third.py", "config.yaml", "launch.yaml"),
    ("audit", "--no-cache", "--sarif", "-", "audited"),
    ("audit", "--no-cache", "--github", "audited"),
    ("scan-cache", "--json", "cache"),
    ("preflight", "--list", "--script", "train.py"),  # and the arguments of the job
    ("preflight", "train.py"),  # wrong use, which repeats them
    ("explain", "A606"),
)  # fmt: skip
# One start for all of them: what each says on either stream goes into a file of its own.
CALLER = """\
import contextlib, json, sys
from diagnostics.cli import doctor, guarded
for number, words in enumerate(json.loads(sys.argv[1])):
    with open(f"screen-{number}.txt", "w") as screen:
        with contextlib.redirect_stdout(screen), contextlib.redirect_stderr(screen):
            guarded(doctor, "ups-doctor", words)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a job that died with secrets everywhere, its report, and what each command said of it."""
    tmp_path = tmp_path_factory.mktemp("everywhere")
    arguments, variables = planted_job.write_job(tmp_path, sys.executable)
    ended = run(tmp_path, "bash", "run.sh", *arguments, options=("--locals",), env=variables)
    assert ended.returncode == 1, ended.stderr.decode()
    (tmp_path / "terminal.txt").write_bytes(ended.stdout)
    said = ended.stderr.rpartition(b"ups-doctor: ")[2]
    (tmp_path / "screen-run.txt").write_bytes(said)
    calls = [[*words, *(arguments if words[0] == "preflight" else ())] for words in COMMANDS]
    subprocess.run([sys.executable, "-c", CALLER, json.dumps(calls)], cwd=tmp_path, check=True, timeout=150)
    return tmp_path


def test_every_place_was_reached() -> None:
    planted = planted_job.everywhere()
    assert len(planted) >= 300
    assert {name.split(" | ")[0] for name in planted} == set(planted_job.PLACES)
    assert len(planted_job.PLACES) == 30


@pytest.mark.parametrize("place", ["argv", "child-argv"])
def test_a_command_line_shows_none_whenever_and_however_it_was_seen(place: str) -> None:
    """Which of a job's processes are seen, and by whom, is a matter of moments."""
    words = ["/usr/bin/python", "train.py", *planted_job.words_of(place)]
    shown = [
        *redaction.argv(words),
        *hiding.hide_words(words),
        redaction.text(repr(words)),
        redaction.text(shlex.join(words)),
    ]
    assert planted_job.found("\n".join(shown).encode()) == []


def test_no_secret_is_in_any_file_of_the_report(folder: Path) -> None:
    files = [path for path in (folder / "report").rglob("*") if path.is_file()]
    leaks = {str(path.relative_to(folder)): planted_job.found(path.read_bytes()) for path in files}
    assert len(leaks) >= 15
    assert {name: found for name, found in leaks.items() if found} == {}


def test_no_secret_is_in_what_any_command_says(folder: Path) -> None:
    screens = sorted(folder.glob("screen-*.txt"))
    assert len(screens) == len(COMMANDS) + 1
    assert all(path.stat().st_size > 40 for path in screens)
    leaks = {path.name: planted_job.found(path.read_bytes()) for path in screens}
    assert {name: found for name, found in leaks.items() if found} == {}


def test_the_job_s_own_terminal_shows_what_it_wrote(folder: Path) -> None:
    """The test could fail: the secrets were there, and the user's terminal is the user's own."""
    assert len(planted_job.found((folder / "terminal.txt").read_bytes())) >= 20
    assert len(planted_job.found((folder / "planted.json").read_bytes())) >= 100


def test_the_report_still_says_what_happened(folder: Path) -> None:
    found = json.loads((folder / "report" / "report.json").read_text())
    assert (found["failure_class"], found["culprit_ranks"]) == ("python-exception", [0])
    kept = (folder / "report" / "record" / "output" / "all.txt").read_text()
    for words in ("the password is [redacted]", "host=db1 dbname=runs user=bob", "port=5432"):
        assert words in kept
    sources = "".join(path.read_text() for path in (folder / "report" / "record" / "sources").iterdir())
    for words in ('PASSWORD = "[redacted]"', "raise failed from error", "export WORKERS=2", "  username: bob"):
        assert words in sources

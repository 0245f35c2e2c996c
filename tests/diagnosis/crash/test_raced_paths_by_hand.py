"""A path that each rank moves or makes: the rank that came second is told why."""

from __future__ import annotations

from pathlib import Path

import pytest
from hand_made import a_job, a_process, raised

from diagnostics.diagnosis.crash import uncaught_exception

SAVES = """\
def save(state, path, rank):
    torch.save(state, path + ".tmp")
    {body}


if __name__ == "__main__":
    save(model.state_dict(), "last.pt", dist.get_rank())
"""
GONE = "FileNotFoundError: [Errno 2] No such file or directory: 'last.pt.tmp' -> 'last.pt'"
THERE = "FileExistsError: [Errno 17] File exists: 'runs'"
FIRST_TOOK = "the first one has moved or removed what the next one looks for"
FIRST_MADE = "the first one has made it"


def fix_of(folder: Path, error: str, body: str, line: int = 3, ranks: int = 2) -> str:
    """Returns the advice for a rank that raised `error` at a line of save()."""
    one = a_process(
        1, rank=1, code=1, raised=(raised(error, f"{folder}/saver.py:{line}", f"{folder}/saver.py:{line + 4}"),)
    )
    others = [a_process(2 + number, rank=0) for number in range(ranks - 1)]
    job = a_job(one, *others, cwd=folder, files={"saver.py": SAVES.format(body=body)})
    match = uncaught_exception.match(job)
    assert match is not None
    assert match.finding.fix is not None
    return match.finding.fix.text


@pytest.mark.parametrize(
    ("error", "body", "told"),
    [
        (GONE, 'os.replace(path + ".tmp", path)', FIRST_TOOK),
        (GONE, "shutil.move(tmp, path)", FIRST_TOOK),
        (THERE, 'os.mkdir("runs")', FIRST_MADE),
        (THERE, 'Path("runs").mkdir()', FIRST_MADE),
    ],
)
def test_the_second_rank_at_one_path_is_told_that_another_was_first(
    tmp_path: Path, error: str, body: str, told: str
) -> None:
    assert told in fix_of(tmp_path, error, body)


@pytest.mark.parametrize(
    ("error", "body", "line"),
    [
        (GONE, 'os.replace(f"{rank}.tmp", path)', 3),  # each rank has its own
        (GONE, "if rank == 0:\n        os.replace(tmp, path)", 4),  # one rank comes there
        (GONE, 'torch.load("last.pt.tmp")', 3),  # it is only read
        (THERE, "os.replace(tmp, path)", 3),  # which never says so
        ("KeyError: 'a'", "os.replace(tmp, path)", 3),
    ],
)
def test_what_one_rank_does_or_does_to_its_own_is_no_race(tmp_path: Path, error: str, body: str, line: int) -> None:
    assert "the first one has" not in fix_of(tmp_path, error, body, line)


def test_a_job_of_one_rank_races_with_nobody(tmp_path: Path) -> None:
    assert "the first one has" not in fix_of(tmp_path, GONE, "os.replace(tmp, path)", ranks=1)

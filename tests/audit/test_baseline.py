"""What was found before fails no build: a baseline, only the changed lines, and GitLab's report, as real commands."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from warm_python import doctor

LAUNCH = "torchrun --nproc-per-node 2 train.py | tee train.log\n"
AGAIN = "torchrun --nproc-per-node 4 other.py | tee other.log\n"


def audit(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    ended = doctor("audit", "--no-cache", "--jobs", "1", *words, env=os.environ, cwd=folder, deadline_s=60)
    said = (ended.stdout.decode(), ended.stderr.decode())
    return subprocess.CompletedProcess(ended.args, ended.returncode, *said)


def git(folder: Path, *words: str) -> None:
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    plain = {**os.environ, **who, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(["git", *words], cwd=folder, env=plain, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "run.sh").write_text(f"#!/bin/bash\n{LAUNCH}")
    return tmp_path


def found(ended: subprocess.CompletedProcess[str]) -> list[str]:
    body = json.loads(ended.stdout)
    return [f"{one['code']} {one['path']}:{one['line']}" for one in body["findings"]]


def test_a_finding_of_the_baseline_fails_no_build_wherever_its_line_has_gone(project: Path) -> None:
    assert audit(project).returncode == 1
    written = audit(project, "--baseline", "old.json", "--write-baseline")
    assert (written.returncode, written.stderr) == (0, "written: old.json\n")
    (project / "run.sh").write_text(f"#!/bin/bash\necho begins\n\n{LAUNCH}")
    again = audit(project, "--baseline", "old.json")
    assert again.returncode == 0
    assert "1 in the baseline" in again.stdout


def test_what_is_new_beside_a_baseline_fails_also_where_its_line_is_a_copy(project: Path) -> None:
    audit(project, "--baseline", "old.json", "--write-baseline")
    (project / "run.sh").write_text(f"#!/bin/bash\n{LAUNCH}{LAUNCH}{AGAIN}")
    ended = audit(project, "--baseline", "old.json", "--json")
    assert (ended.returncode, found(ended)) == (1, ["A512 run.sh:3", "A512 run.sh:4"])


def test_a_baseline_names_no_text_of_the_sources(project: Path) -> None:
    audit(project, "--baseline", "old.json", "--write-baseline")
    body = json.loads((project / "old.json").read_text())
    assert [sorted(one) for one in body["findings"]] == [["fingerprint", "line", "path", "rule"]]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "there is no such file"),
        ("{", "is no JSON"),
        ('{"version": 9, "findings": []}', "is no baseline of this audit"),
        ('{"version": 1, "findings": [{}]}', "is no baseline of this audit"),
    ],
)
def test_a_baseline_that_cannot_be_read_is_refused_in_one_sentence(project: Path, text: str | None, told: str) -> None:
    if text is not None:
        (project / "old.json").write_text(text)
    ended = audit(project, "--baseline", "old.json")
    assert ended.returncode == 2
    assert f"--baseline old.json: {told}" in ended.stderr


def test_since_a_commit_only_changed_lines_and_new_files_count(project: Path) -> None:
    git(project, "init", "-q")
    git(project, "add", ".")
    git(project, "commit", "-qm", "first")
    unchanged = audit(project, "--since", "HEAD")
    assert unchanged.returncode == 0
    assert "1 on lines that have not changed" in unchanged.stdout
    (project / "run.sh").write_text(f"#!/bin/bash\n{LAUNCH}{AGAIN}")
    (project / "new.sh").write_text(f"#!/bin/bash\n{LAUNCH}")
    ended = audit(project, "--since", "HEAD", "--json")
    assert (ended.returncode, found(ended)) == (1, ["A512 new.sh:2", "A512 run.sh:3"])


def test_since_in_a_folder_of_the_repository_names_its_files_as_the_audit_does(project: Path) -> None:
    (project / "jöbs").mkdir()
    (project / "jöbs" / "run.sh").write_text("#!/bin/bash\n")
    git(project, "init", "-q")
    git(project, "add", ".")
    git(project, "commit", "-qm", "first")
    (project / "jöbs" / "run.sh").write_text(f"#!/bin/bash\n{LAUNCH}")
    inside = audit(project / "jöbs", "--since", "HEAD", "--json")
    above = audit(project, "--since", "HEAD", "--json")
    assert (found(inside), found(above)) == (["A512 run.sh:2"], ["A512 jöbs/run.sh:2"])


@pytest.mark.parametrize("ref", ["nowhere", "--output=x"])
def test_since_what_git_does_not_know_is_refused(project: Path, ref: str) -> None:
    git(project, "init", "-q")
    ended = audit(project, f"--since={ref}")
    assert ended.returncode == 2
    assert f"--since {ref}" in ended.stderr
    assert not (project / "x").exists()


def test_the_report_for_gitlab_has_what_its_code_quality_widget_reads(project: Path) -> None:
    (project / "run.sh").write_text(f"#!/bin/bash\n{LAUNCH}{LAUNCH}")
    ended = audit(project, "--gitlab", "quality.json")
    issues = json.loads((project / "quality.json").read_text())
    assert ended.returncode == 1
    assert [(one["check_name"], one["severity"], one["location"]) for one in issues] == [
        ("pipe-without-pipefail", "critical", {"path": "run.sh", "lines": {"begin": line}}) for line in (2, 3)
    ]
    assert len({one["fingerprint"] for one in issues}) == 2
    assert all(one["description"].startswith("A512 ") for one in issues)

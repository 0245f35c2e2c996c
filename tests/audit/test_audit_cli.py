"""`ups-doctor audit` as a real process, with small rules of its own in place of the real ones."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
import yaml

PROJECT = Path(__file__).parent.parent.parent
DEADLINE_S = 60
# The rules of the doctor are replaced by those of a folder; everything else is what a user starts.
WITH_RULES = """
import sys
import diagnostics.commands.audit
diagnostics.audit.__path__ = [sys.argv.pop(1)]
from diagnostics.cli import main
main()
"""
HEAD = """\
import ast
from diagnostics.core.findings import Confidence, Severity
from diagnostics.audit.rule import Edit, Violation, violation
"""
WAITS = (
    HEAD
    + """
CODE, NAME, SEVERITY, WORDS = "A901", "endless-wait", Severity.ERROR, ("wait",)
CHECKLIST = "nothing waits for ever"
def check(file, project):
    for call, _ in project.calls_in(file):
        if project.name(call.func, _).endswith("wait") and not call.args:
            at = (call.end_lineno, call.end_col_offset - 1)
            yield violation(file, call, "wait() waits for ever", "wait(60)", edits=(Edit(start=at, end=at, text="60"),))
"""
)
BRANCHES = (
    HEAD
    + '''
"""What it does."""
CODE, NAME, SEVERITY = "A801", "two-branches", Severity.WARNING
def check(file, project):
    for node in ast.walk(file.tree):
        if isinstance(node, ast.If):
            sure = Confidence.POSSIBLE if node.orelse else Confidence.LIKELY
            yield violation(file, node, "a branch", "none", confidence=sure)
'''
)
CRASHES = HEAD + 'CODE, NAME, SEVERITY = "A701", "crashes", Severity.ERROR\ndef check(file, project):\n    1 / 0\n'
SLEEPS = CRASHES.replace("A701", "A601").replace("1 / 0", "import time; time.sleep(600)")
TRAIN = "wait()\nif x:\n    pass\nif y:\n    pass\nelse:\n    pass\n"
Audit: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {"waits": WAITS, "branches": BRANCHES}.items():
        (tmp_path / "rules").mkdir(exist_ok=True)
        (tmp_path / "rules" / f"{name}.py").write_text(text)
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "train.py").write_text(TRAIN)
    (tmp_path / "job" / "rules.txt").write_text("")
    (tmp_path / "job" / "folder.json").mkdir()
    return tmp_path


def argv(folder: Path, *words: str) -> list[str]:
    return [sys.executable, "-c", WITH_RULES, str(folder / "rules"), "audit", *words]


def environment(folder: Path) -> dict[str, str]:
    return {
        **os.environ,
        "XDG_CACHE_HOME": str(folder / "cache"),
        "PYTHONPATH": str(PROJECT),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


@pytest.fixture
def audit(folder: Path) -> Audit:
    def run(*words: str, **more: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            argv(folder, *words), cwd=folder / "job", env=environment(folder), capture_output=True, text=True,
            timeout=DEADLINE_S, stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip

    return run


def test_errors_give_1_and_the_text_of_the_current_folder(audit: Audit) -> None:
    result = audit()
    text = result.stdout.splitlines()
    assert (result.returncode, result.stderr) == (1, "")
    assert text[:5] == [
        "train.py:1:1",
        "   1 | wait()",
        "     | ^",
        "FAIL  A901  wait() waits for ever",
        "            fix:  wait(60)",
    ]
    assert text[-3].startswith("1 file: 1 error, 1 warning (")
    assert text[-2:] == ["not shown: 1 possible (--possible)", "1 can be fixed: --diff shows how, --fix does it"]


def test_exit_codes(audit: Audit, folder: Path) -> None:
    assert audit("--ignore", "A901").returncode == 0
    assert audit("--ignore", "A901", "--strict").returncode == 1
    assert audit("--select", "endless-wait", "--possible").returncode == 1
    (folder / "rules" / "crashes.py").write_text(CRASHES)
    assert audit("--ignore", "A9").returncode == 3
    assert audit().returncode == 1
    (folder / "rules" / "crashes.py").write_text("import nothing_like_it\n")
    broken = audit("--ignore", "A9")
    assert broken.returncode == 3
    assert "CRASH? crashes" in broken.stdout


def test_a_file_that_was_named_and_cannot_be_read_is_undecided_and_in_a_folder_it_is_left_out(
    audit: Audit, folder: Path
) -> None:
    (folder / "job" / "broken.py").write_text("def f(:\n")
    (folder / "job" / "fine.py").write_text("1\n")
    told = "skip        broken.py: line 1 is no Python 3: invalid syntax"
    for _ in ("asked", "from the cache"):
        alone = audit("broken.py")
        assert (alone.returncode, alone.stdout.splitlines()[0]) == (3, f"{told}; nothing in it was audited")
        assert alone.stdout.splitlines()[2].startswith("0 files, nothing to read, 1 not audited (")
    assert audit("fine.py", "./broken.py").stdout.splitlines()[2].startswith("1 file, nothing found, 1 not audited (")
    assert audit("broken.py", "train.py").returncode == 1
    below = audit(".", "--ignore", "A901")
    assert (below.returncode, below.stdout.splitlines()[-4]) == (0, told)
    assert audit("rules.txt").returncode == 0  # of no kind that rules read, as `git diff --name-only` may give


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing.py"], "error: no such file or folder: nothing.py"),
        (["--select", "A977"], "error: --select: no rule 'A977'"),
        (["--select", "A9011"], "error: --select: no rule 'A9011'; did you mean 'A901'?"),
        (["--json", "--github"], "error: --json and --github both say what is printed"),
        (["--yes"], "error: --yes answers the question of --fix, which was not given"),
        (["--sarif", "train.py"], "error: --sarif train.py: the file it writes ends in .sarif or .json"),
        (["--sarif", "no/where.sarif"], "error: cannot write no/where.sarif: no such file or folder"),
        ([""], "error: one of the paths is empty: a variable that is not set?"),
    ],
)
def test_wrong_use_is_one_sentence_and_2(audit: Audit, words: list[str], message: str) -> None:
    result = audit(*words)
    assert (result.returncode, result.stderr.splitlines()[0], result.stdout) == (2, message, "")


# One process asks all of these: what is refused is refused before anything is read.
ALL_REFUSED = """
import contextlib, io, json, sys
from diagnostics.cli import doctor, guarded
for words in json.loads(sys.argv[1]):
    told = io.StringIO()
    with contextlib.redirect_stderr(told), contextlib.redirect_stdout(told):
        code = guarded(doctor, "ups-doctor", ["audit", *words])
    print(code, told.getvalue().splitlines()[0])
"""
REFUSED = [
    (["nothing", "--watch"], "error: no such file or folder: nothing"),
    (["rules.txt", "--watch"], "error: --watch rules.txt: is no file that rules read"),
    (["--watch", "--baseline", "none.json"], "error: --baseline none.json: there is no such file"),
    (["--since", ""], "error: --since is empty: a variable that is not set?"),
    (["--select", ""], "error: --select is empty: a variable that is not set?"),
    (["--ignore", " ,"], "error: --ignore is empty: a variable that is not set?"),
    (["--sarif", ""], "error: --sarif is empty: a variable that is not set?"),
    (["--gitlab", ""], "error: --gitlab is empty: a variable that is not set?"),
    (["--baseline", ""], "error: --baseline is empty: a variable that is not set?"),
    (["--cache-dir", ""], "error: --cache-dir is empty: a variable that is not set?"),
    (["--cache-dir", "train.py"], "error: --cache-dir train.py is no folder"),
    (["--sarif", "a.json", "--gitlab", "a.json"], "error: --sarif and --gitlab would both write a.json"),
    (["--baseline", "no/b.json", "--write-baseline"], "error: cannot write no/b.json: no such file or folder"),
    (["--gitlab", "folder.json"], "error: cannot write folder.json: it is a folder, a file was expected"),
    (
        ["/", "--since", "HEAD"],
        "error: --since knows what has changed below the current folder, and / lies outside of it",
    ),
    (["--jobs", "0"], "Usage: ups-doctor audit [OPTIONS] [PATH]..."),
]


def test_bad_input_of_every_option_is_one_sentence_and_2(folder: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-c", ALL_REFUSED, json.dumps([words for words, _ in REFUSED])],
        cwd=folder / "job", env=environment(folder), capture_output=True, text=True, timeout=DEADLINE_S, check=True,
    )  # fmt: skip
    assert result.stdout.splitlines() == [f"2 {message}" for _, message in REFUSED]
    assert not (folder / "cache").exists()


def test_a_mistyped_setting_is_2_and_a_right_one_holds(audit: Audit, folder: Path) -> None:
    settings = folder / "job" / "pyproject.toml"
    settings.write_text("[tool.ups-doctor.audit]\nignor = []\n")
    result = audit()
    message = "error: pyproject.toml:2: unknown key 'ignor' in [tool.ups-doctor.audit]; did you mean 'ignore'?\n"
    assert (result.returncode, result.stderr) == (2, message)
    settings.write_text('[tool.ups-doctor.audit]\nper-file-ignores = {"train.py" = ["A9"]}\n')
    result = audit()
    assert result.returncode == 0
    assert "1 ignored by comments or settings" in result.stdout


def test_json_github_and_the_checklist_take_the_place_of_the_text(audit: Audit) -> None:
    body = json.loads(audit("--json", "--possible").stdout)
    assert (body["exit_code"], [one["where"] for one in body["findings"]]) == (
        1,
        ["train.py:1:1", "train.py:2:1", "train.py:4:1"],
    )
    assert audit("--github").stdout.startswith(
        "::error file=train.py,line=1,col=1,title=A901 endless-wait::wait() waits"
    )
    assert audit("--checklist").stdout.startswith("[ ] 1 finding       nothing waits for ever (A901)\n")


def test_sarif_is_written_beside_the_text_or_printed(audit: Audit, folder: Path) -> None:
    result = audit("--sarif", "out.sarif")
    assert "FAIL  A901" in result.stdout
    written = (folder / "job" / "out.sarif").read_text()
    assert json.loads(written)["runs"][0]["results"][0]["ruleId"] == "A901"
    assert audit("--sarif", "-").stdout == written


def test_names_of_files_may_be_any_bytes(folder: Path) -> None:
    (folder / "job" / os.fsdecode(b"tr\xff\n\x1bain.py")).write_text("wait()\n")
    for words in ([], ["--json"], ["--github"], ["--sarif", "-"], ["--diff"], ["--checklist"]):
        shown = subprocess.run(
            argv(folder, *words), cwd=folder / "job", env=environment(folder), capture_output=True, check=False
        )
        assert (shown.returncode, b"Traceback" in shown.stderr, b"\x1b" in shown.stdout) == (1, False, False)


def test_the_diff_writes_nothing_and_fix_writes_with_yes_only(audit: Audit, folder: Path) -> None:
    train = folder / "job" / "train.py"
    shown = audit("--diff")
    assert shown.stdout.splitlines()[:5] == ["--- train.py", "+++ train.py", "@@ -1,4 +1,4 @@", "-wait()", "+wait(60)"]
    assert (shown.returncode, shown.stderr) == (1, "1 finding in 1 file; --fix writes this\n")
    asked = audit("--fix")
    assert asked.stderr == "not written: 1 finding in 1 file; without a terminal to ask on, --fix needs --yes\n"
    assert train.read_text() == TRAIN
    fixed = audit("--fix", "--yes")
    assert (fixed.returncode, fixed.stderr) == (0, "fixed 1 finding in 1 file\n")
    assert train.read_text() == TRAIN.replace("wait()", "wait(60)")
    assert audit("--diff").stderr == "nothing that can be fixed\n"


def test_a_file_with_two_names_is_changed_once(audit: Audit, folder: Path) -> None:
    (folder / "job" / "link.py").symlink_to("train.py")
    fixed = audit("--fix", "--yes")
    assert (fixed.returncode, fixed.stderr) == (0, "fixed 1 finding in 1 file\n")
    assert (folder / "job" / "train.py").read_text() == TRAIN.replace("wait()", "wait(60)")
    assert (folder / "job" / "link.py").is_symlink()


@pytest.mark.parametrize(("answer", "after"), [("y\n", "wait(60)"), ("n\n", "wait()")])
def test_on_a_terminal_fix_asks(folder: Path, answer: str, after: str) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        argv(folder, "--fix"), cwd=folder / "job", env=environment(folder), stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    shown = seen(ours, "[y/N]: ")
    os.write(ours, answer.encode())
    seen(ours, "explain")
    assert process.wait(DEADLINE_S) == (0 if answer == "y\n" else 1)
    os.close(ours)
    assert "\033[32m+wait(60)\033[0m" in shown
    assert (folder / "job" / "train.py").read_text().startswith(after)


def seen(descriptor: int, wanted: str) -> str:
    """Reads a terminal until it shows `wanted`."""
    shown = ""
    until = time.monotonic() + DEADLINE_S
    while wanted not in shown and time.monotonic() < until:
        if select.select([descriptor], [], [], 1)[0]:
            try:
                shown += os.read(descriptor, 1 << 16).decode()
            except OSError:
                break
    assert wanted in shown, shown
    return shown


def test_the_second_time_comes_from_the_cache_and_no_cache_writes_none(audit: Audit, folder: Path) -> None:
    audit("--no-cache")
    assert not (folder / "cache").exists()
    first = audit()
    (answer,) = (folder / "cache" / "ups-doctor" / "audit").iterdir()
    body = json.loads(answer.read_text())
    body["found"][0]["title"] = "from the cache"
    answer.write_text(json.dumps(body))
    assert "FAIL  A901  from the cache" in audit().stdout
    (folder / "job" / "train.py").write_text(TRAIN + "\n")
    assert "FAIL  A901  wait() waits for ever" in audit().stdout
    assert "FAIL  A901  wait() waits for ever" in first.stdout


def test_ctrl_c_gives_130_and_leaves_no_process(folder: Path) -> None:
    (folder / "rules" / "sleeps.py").write_text(SLEEPS)
    (folder / "rules" / "too.py").write_text(SLEEPS.replace("A601", "A611"))  # the next unit, for the other process
    for number in range(4):
        (folder / "job" / f"large{number}.py").write_text("x = 1\n" + "# nothing\n" * 60_000)
    process = subprocess.Popen(
        argv(folder, "--no-cache", "--jobs", "2"), cwd=folder / "job", env=environment(folder),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    until = time.monotonic() + DEADLINE_S
    while len(members(process.pid)) < 3 and time.monotonic() < until:
        time.sleep(0.05)
    assert len(members(process.pid)) == 3
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=DEADLINE_S)
    assert (process.returncode, said.strip()) == (130, "interrupted by Ctrl-C")
    assert members(process.pid) == []


def members(session: int) -> list[str]:
    listed = subprocess.run(["ps", "-o", "pid=", "-s", str(session)], capture_output=True, text=True, check=False)
    return listed.stdout.split()


def test_it_needs_nothing_that_only_linux_has(audit: Audit, folder: Path) -> None:
    hidden = (
        "import os, sys\nfor name in ('sched_getaffinity', 'pidfd_open', 'posix_fallocate'):\n    delattr(os, name)\n"
    )
    program = f"{hidden}sys.platform = 'darwin'\n{WITH_RULES}"
    words = [sys.executable, "-c", program, str(folder / "rules"), "audit"]
    result = subprocess.run(
        words, cwd=folder / "job", env=environment(folder), capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (1, "")


def test_the_pre_commit_hook_starts_what_it_says(folder: Path) -> None:
    hook, *_ = yaml.safe_load((PROJECT / ".pre-commit-hooks.yaml").read_text())
    assert {key: hook[key] for key in ("id", "language", "pass_filenames")} == {
        "id": "ups-doctor-audit",
        "language": "python",
        "pass_filenames": False,
    }
    program, *words = hook["entry"].split()
    started = Path(sys.executable).with_name(program)
    result = subprocess.run(
        [started, *words], cwd=folder / "job", env=environment(folder), capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("1 file, nothing found (")

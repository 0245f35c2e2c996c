"""What becomes of a failed command's status in a script; bash itself says what the script ends with."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from diagnostics.static.launch_files.shell_commands import commands
from diagnostics.static.launch_files.shell_exit_status import Fate, status_of
from diagnostics.static.launch_files.shell_parser import parse

DROPPED, HANDLED, PASSED = Fate.DROPPED, Fate.HANDLED, Fate.PASSED

SCRIPTS = [
    ("./train.sh || true", DROPPED, (1,)),
    ("./train.sh || :", DROPPED, (1,)),
    ("./train.sh || echo failed", DROPPED, (1,)),
    ("./train.sh || { echo failed >&2; exit 0; }", DROPPED, (1,)),
    ("./train.sh || exit 0", DROPPED, (1,)),
    ("./train.sh | cat", DROPPED, (1,)),
    ("set -e\n./train.sh 2>&1 | cat\necho done", DROPPED, (2,)),
    ("./train.sh &\nwait", DROPPED, (2, 1)),
    ("./train.sh\necho done", DROPPED, (1,)),
    ("./train.sh\nexit 0", DROPPED, (2, 1)),
    ("./train.sh; true", DROPPED, (1,)),
    ("trap 'exit 0' EXIT\n./train.sh", DROPPED, (1, 2)),
    ("set -e\ntrap 'exit 0' EXIT\n./train.sh\necho never", DROPPED, (2, 3)),
    ("end() {\n  exit 0\n}\ntrap end EXIT\n./train.sh", DROPPED, (2, 5)),
    ("for lr in 1 2; do\n  ./train.sh --lr $lr\ndone\necho done", DROPPED, (2,)),
    ("if true; then\n  ./train.sh\nfi\necho done", DROPPED, (2,)),
    ("run() { ./train.sh; }\nrun\necho done", DROPPED, (2,)),
    ("( ./train.sh; echo inner )\n", DROPPED, (1,)),
    ("bash -c './train.sh || true'", DROPPED, (1,)),
    ("./train.sh || echo failed\nif [ $? -ne 0 ]; then exit 1; fi", DROPPED, (1,)),
    ("./train.sh\necho next\ncode=$?\nexit $code", DROPPED, (1,)),
    ("if ./train.sh; then echo well; fi", HANDLED, ()),
    ("if ! ./train.sh; then echo again; fi", HANDLED, ()),
    ("! ./train.sh", HANDLED, ()),
    ("while ! ./train.sh; do break; done", HANDLED, ()),
    ("until ./train.sh; do break; done", HANDLED, ()),
    ("./train.sh && echo well\ntrue", HANDLED, ()),
    ("./train.sh; code=$?; [ $code -eq 7 ]", HANDLED, ()),
    ("./train.sh\n[ $? -eq 7 ]", HANDLED, ()),
    ("set +e\n./train.sh\ncode=$?\nset -e\ncase $code in 7) echo known ;; esac", HANDLED, ()),
    ("./train.sh || ./smaller.sh", HANDLED, ()),
    ("./train.sh || failed=1", HANDLED, ()),
    ("./train.sh || { code=$?; echo $code; }", HANDLED, ()),
    ("./train.sh || echo $0 >> failed.txt", HANDLED, ()),
    ("./train.sh | cat; [ ${PIPESTATUS[0]} -eq 7 ]", HANDLED, ()),
    ("./train.sh &\nif ! wait $!; then echo known; fi", HANDLED, ()),
    ("./train.sh &\npid=$!\nwait $pid\ncode=$?\ntrue", HANDLED, ()),
    ("trap './smaller.sh' ERR\n./train.sh\ntrue", HANDLED, ()),
    ("./train.sh", PASSED, ()),
    ("set -e\n./train.sh\necho never", PASSED, ()),
    ("set -o pipefail\n./train.sh | cat", PASSED, ()),
    ("./train.sh &\nwait $!", PASSED, ()),
    ("exec ./train.sh", PASSED, ()),
    ("run() { ./train.sh; }\nrun", PASSED, ()),
    ("( ./train.sh )", PASSED, ()),
    ("bash -c './train.sh'", PASSED, ()),
]


@pytest.mark.parametrize(("text", "fate", "lines"), SCRIPTS)
def test_a_status_goes_where_bash_takes_it(text: str, fate: Fate, lines: tuple[int, ...], tmp_path: Path) -> None:
    script = commands(parse(text))
    failing = next(one for one in script if "./train.sh" in one.words)
    found = status_of(failing, script)
    assert (found.fate, found.lines) == (fate, lines)
    for name, code in (("train.sh", 7), ("smaller.sh", 0)):
        (tmp_path / name).write_text(f"#!/bin/sh\nexit {code}\n")
        (tmp_path / name).chmod(0o755)
    ended = subprocess.run(["bash", "-c", text], cwd=tmp_path, capture_output=True, check=False)
    assert (ended.returncode == 7) == (fate is PASSED), "what bash itself ends with"


def test_a_script_that_kills_what_it_started_knows_of_that_end() -> None:
    script = commands(parse("./server.sh &\npid=$!\n./train.sh\nkill $pid\nwait"))
    assert status_of(script[0], script, killed=True).fate is HANDLED
    assert status_of(script[0], script).fate is DROPPED


def test_where_calls_of_a_function_differ_nothing_is_said() -> None:
    script = commands(parse("run() { ./train.sh; }\nrun || true\nrun || exit 3"))
    assert status_of(script[0], script).fate is Fate.UNKNOWN

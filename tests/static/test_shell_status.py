"""What becomes of a failed command's status in a script; bash itself says what the script ends with."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from diagnostics.static.launch_files.shell_commands import commands
from diagnostics.static.launch_files.shell_exit_status import status_of
from diagnostics.static.launch_files.shell_parser import parse
from diagnostics.static.launch_files.status_flow import Fate

DROPPED, HANDLED, PASSED, UNKNOWN = Fate.DROPPED, Fate.HANDLED, Fate.PASSED, Fate.UNKNOWN

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
    ("set -e\ntrap 'exit 0' EXIT\n./train.sh\ntest -s model.pt", DROPPED, (2, 3)),
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
    # What `&&` does leaves a trace, or words.
    ("./train.sh && touch done.flag || echo failed", UNKNOWN, ()),
    ("./train.sh && good=1 || true\n[ ${good:-0} = 1 ] || ./smaller.sh", UNKNOWN, ()),
    ("./train.sh && good=1 || true", DROPPED, (1,)),
    ("./train.sh && echo well || true", DROPPED, (1,)),
    ("./train.sh && ./smaller.sh || ./smaller.sh", HANDLED, ()),
    # A bare `exit` or `return` ends its shell or function with the status of the command before it.
    ("./train.sh || exit", PASSED, ()),
    ("./train.sh\nexit", PASSED, ()),
    ("train() { ./train.sh || return; echo well; }\nif train; then echo well; else ./smaller.sh; fi", HANDLED, ()),
    ("train() { ./train.sh || return; echo well; }\ntrain\necho done", DROPPED, (2,)),
    ("train() {\n  ./train.sh\n  return\n}\ntrain || ./smaller.sh", HANDLED, ()),
    ("( ./train.sh || exit; echo well ) || ./smaller.sh", HANDLED, ()),
    ("( ./train.sh\nexit ) || ./smaller.sh", HANDLED, ()),
    ("./train.sh || { echo failed; exit; }", DROPPED, (1,)),
    ("train() { ./train.sh || return 0; }\ntrain", DROPPED, (1,)),
    ("train() { ./train.sh || return 0; touch well; }\ntrain", UNKNOWN, ()),
    # A function or a trap may wait for it.
    ('finish() { wait "$1" || ./smaller.sh; }\n./train.sh &\nfinish $!', UNKNOWN, ()),
    ("finish() { wait; }\n./train.sh &\nfinish", DROPPED, (1, 2)),
    ("trap 'wait $T || ./smaller.sh' EXIT\n./train.sh & T=$!", UNKNOWN, ()),
    ("trap 'wait' EXIT\n./train.sh & T=$!", DROPPED, (2,)),
    ("./train.sh & p=$!\nsleep 0 &\nwait $p || ./smaller.sh\nwait", HANDLED, ()),
    ("./train.sh & p=$!\nsleep 0 & q=$!\nwait $q || ./smaller.sh", DROPPED, (1,)),
    # A function runs what it is given.
    ('try() { "$@" || ./smaller.sh; }\ntry ./train.sh\necho done', HANDLED, ()),
    ('try() { "$@"; echo done; }\ntry ./train.sh', DROPPED, (1,)),
    ("try() { eval $WHAT; }\ntry ./train.sh\necho done", UNKNOWN, ()),
    # The end of a pipe judges what came through it.
    ("if ./train.sh | grep -q trained; then echo well; else ./smaller.sh; fi", UNKNOWN, ()),
    ("if ./train.sh | tee log; then echo well; else ./smaller.sh; fi", DROPPED, (1,)),
    # The trap at the end decides.
    ("end() { code=$?; [ $code -eq 0 ] || ./smaller.sh; exit 0; }\ntrap end EXIT\n./train.sh", HANDLED, ()),
    ("trap '[ -f model.pt ] && exit 0; exit 3' EXIT\n./train.sh", UNKNOWN, ()),
    ("trap './smaller.sh' ERR\ntrap 'exit 0' EXIT\n./train.sh", HANDLED, ()),
    # A file or words in a log tell.
    ("./train.sh || true\n[ -f model.pt ] || ./smaller.sh", UNKNOWN, ()),
    ("./train.sh || true\nif [ -f model.pt ]; then exit 0; fi\n./smaller.sh", UNKNOWN, ()),
    ("./train.sh > log\ngrep -q trained log || ./smaller.sh", UNKNOWN, ()),
    ("./train.sh; n=$(ls | wc -l)\n[ $n -gt 90 ] || ./smaller.sh", UNKNOWN, ()),
    ("bash -c './train.sh || true'\n[ -f model.pt ] || ./smaller.sh", UNKNOWN, ()),
    ("[ -f model.pt ] || ./smaller.sh\n./train.sh || true", DROPPED, (2,)),
    ("./train.sh || true\n[ -f model.pt ] && echo there\ntrue", DROPPED, (1,)),
    # The words go where they are read.
    ("for lr in 1 2; do ./train.sh || echo $lr; done > failed\n./smaller.sh failed", UNKNOWN, ()),
    ("for lr in 1 2; do ./train.sh || echo $lr; done > log", DROPPED, (1,)),
    # What `$(...)` ends with is the status of a bare assignment, and of no other command.
    ("set -e\nrun() {\n  local x=$(./train.sh)\n  echo $x\n}\nrun", DROPPED, (3,)),
    (
        'set -e\nrun() {\n  local x=$(./train.sh)\n  echo "$1 $x" >> all.txt\n}\nrun\ncat all.txt\nrm all.txt',
        DROPPED,
        (3,),
    ),
    (
        'F=all.txt\nlocal_x() { local x=$(./train.sh); echo "$x" >> "$F"; }\nlocal_x\necho "$(wc -l < $F) rows"',
        DROPPED,
        (2,),
    ),
    (
        "run() { local x=$(./train.sh); echo $x >> all.txt; }\nrun\nif grep -q done all.txt; then echo well; fi",
        UNKNOWN,
        (),
    ),
    (
        "run() { local x=$(./train.sh); echo $x >> all.txt; }\nrun\nn=$(wc -l < all.txt)\n[ $n -gt 1 ] || exit 1",
        UNKNOWN,
        (),
    ),
    ("run() { local x=$(./train.sh); ./report.sh $x >> all.txt; }\nrun", UNKNOWN, ()),
    ("set -e\nexport X=$(\n  ./train.sh | tail -n 1\n)\necho done", DROPPED, (3,)),
    ("set -euo pipefail\ndeclare x=`./train.sh | tail -n 1`\necho $x", DROPPED, (2,)),
    ("set -e\necho last: $(./train.sh)", DROPPED, (2,)),
    ("x=$(./train.sh) || true\necho $x", DROPPED, (1,)),
    ("x=$(./train.sh)\necho $x", DROPPED, (1,)),
    ("set -e\nx=$(./train.sh; echo done)\necho $x", DROPPED, (2,)),
    ("set -e\nx=$(./train.sh)\necho never", PASSED, ()),
    ("x=$(./train.sh)", PASSED, ()),
    ("set -e\nlocal_x() { local x; x=$(./train.sh); echo $x; }\nlocal_x", PASSED, ()),
    ("if ! x=$(./train.sh); then ./smaller.sh; fi", HANDLED, ()),
    ("x=$(./train.sh) || ./smaller.sh", HANDLED, ()),
    ("x=$(./train.sh); code=$?; [ $code = 7 ]", HANDLED, ()),
    ('export X=$(./train.sh)\n[ -n "$X" ] || ./smaller.sh', UNKNOWN, ()),
    ('[ -n "$(./train.sh)" ] || ./smaller.sh', UNKNOWN, ()),
    ("./smaller.sh $(./train.sh)", UNKNOWN, ()),
    ('say() { printf \'%s\' "$*"; }\nx=$(./train.sh) || true\nsay "$x"', DROPPED, (2,)),
    ('log() { ./smaller.sh "$*"; }\nx=$(./train.sh) || true\nlog "$x"', UNKNOWN, ()),
    # `set -e` does not hold in a function whose call is answered.
    ("set -e\ntrain() {\n  ./train.sh\n}\ntrain || true", DROPPED, (5,)),
    ("set -e\ntrain() {\n  ./train.sh\n  echo done\n}\ntrain || ./smaller.sh", DROPPED, (3,)),
    ("set -e\ntrain() {\n  ./train.sh\n  echo done\n}\ntrain", PASSED, ()),
    ("set -e\ntrain() {\n  ./train.sh\n}\ntrain || ./smaller.sh", HANDLED, ()),
    ("set -e\ntrain() { ./train.sh; }\nx=$(train) || true\necho $x", DROPPED, (3,)),
]
LIBRARY = "train() {\n  local out=$(./train.sh)\n  echo $out\n}\nsafe() { ./train.sh; }\n"


@pytest.mark.parametrize(("text", "fate", "lines"), SCRIPTS)
def test_a_status_goes_where_bash_takes_it(text: str, fate: Fate, lines: tuple[int, ...], tmp_path: Path) -> None:
    script = commands(parse(text), sourced=lambda _: None)
    failing = next(one for one in script if "./train.sh" in one.words)
    found = status_of(failing, script)
    assert (found.fate, found.lines) == (fate, lines)
    for name, code in (("train.sh", 7), ("smaller.sh", 0)):
        (tmp_path / name).write_text(f"#!/bin/sh\nexit {code}\n")
        (tmp_path / name).chmod(0o755)
    ended = subprocess.run(["bash", "-c", text], cwd=tmp_path, capture_output=True, check=False)
    assert (ended.returncode == 7) == (fate is PASSED), "what bash itself ends with"


@pytest.mark.parametrize(
    ("text", "number", "fate", "at"),
    [
        ("set -e\n. ./lib.sh\ntrain", 0, DROPPED, [(2, "lib.sh")]),
        ("set -e\nsource ./lib.sh\nsafe || true", 1, DROPPED, [(3, "")]),
        ("source ./lib.sh\nset -e\nsafe\necho never", 1, PASSED, []),
        ("set -e\nsource ./lib.sh\nsafe\necho never", 1, PASSED, []),
    ],
)
def test_a_status_is_followed_into_the_files_a_script_sources(
    text: str, number: int, fate: Fate, at: list[tuple[int, str]]
) -> None:
    script = commands(parse(text), sourced=lambda word: ("lib.sh", LIBRARY) if word == "./lib.sh" else None)
    failing = [one for one in script if "./train.sh" in one.words][number]
    found = status_of(failing, script)
    assert (found.fate, list(found.at)) == (fate, at)


def test_a_script_that_kills_what_it_started_knows_of_that_end() -> None:
    script = commands(parse("./server.sh &\npid=$!\n./train.sh\nkill $pid\nwait"))
    assert status_of(script[0], script, killed=True).fate is HANDLED
    assert status_of(script[0], script).fate is DROPPED


@pytest.mark.parametrize(
    ("text", "fate"),
    [
        ("./train.sh & t=$!\nkill $t\nwait $t\necho done", HANDLED),
        ("stop() { kill $t; wait $t; }\n./train.sh & t=$!\nstop; echo done", HANDLED),
        ("trap 'kill $(jobs -p)' EXIT\n./train.sh &\necho done", HANDLED),
        ("./train.sh &\npkill -f train.sh\nwait", HANDLED),
        ("( sleep 9; pkill -f train.sh ) &\n./train.sh\necho done", HANDLED),
        ("./server.sh & s=$!\n./train.sh &\nwait\nkill $s", DROPPED),
        ("./server.sh & s=$!\n./train.sh\nkill $s", DROPPED),
        ("./train.sh & t=$!\nkill -0 $t\nwait", DROPPED),
        ("./train.sh &\npkill -f server.sh\nwait", DROPPED),
        ("kill $old\n./train.sh &\nwait", DROPPED),
    ],
)
def test_a_kill_wherever_it_stands_may_be_what_ended_it_if_it_is_not_known_to_be_for_another(
    text: str, fate: Fate
) -> None:
    script = commands(parse(text))
    failing = next(one for one in script if "./train.sh" in one.words)
    assert status_of(failing, script, killed=True).fate is fate


AROUND = ["{}", "( {} )", "f() {{ {}; }}; f", "if {}; then ./mark.sh; fi", "for i in 1 2; do {}; done"]
RUNS = ["./train.sh", "./train.sh && x=1 || true", "./train.sh || exit", "! ./train.sh; :"]
BEHIND = ["; echo done", " || ./mark.sh", '; [ -f model.pt ] || ./mark.sh; [ "$x" = 1 ] && ./mark.sh']


@pytest.mark.parametrize("around", AROUND)
def test_what_is_called_dropped_changes_nothing_in_bash(around: str, tmp_path: Path) -> None:
    (tmp_path / "mark.sh").write_text("#!/bin/sh\necho ran >> marks\n")
    (tmp_path / "mark.sh").chmod(0o755)
    texts = [around.format(run) + behind for run in RUNS for behind in BEHIND]
    fates = []
    for text in texts:
        script = commands(parse(text))
        fates.append(status_of(next(one for one in script if "./train.sh" in one.words), script).fate)
    # Each script in a folder of its own, all by one bash; what it ends with and what it ran is its trace.
    traces = []
    for code, product in ((7, ""), (0, "touch model.pt")):
        (tmp_path / "train.sh").write_text(f"#!/bin/sh\n{product}\nexit {code}\n")
        (tmp_path / "train.sh").chmod(0o755)
        runs = [
            f"mkdir -p {code}/{number}; (cd {code}/{number}; ln -s ../../*.sh .; bash -c {shlex.quote(text)}; "
            "echo $? >> marks) > /dev/null 2>&1"
            for number, text in enumerate(texts)
        ]
        subprocess.run(["bash", "-c", "\n".join(runs)], cwd=tmp_path, check=False, timeout=60)
        traces.append([(tmp_path / f"{code}/{number}/marks").read_text() for number in range(len(texts))])
    told = [
        text
        for text, fate, bad, good in zip(texts, fates, *traces, strict=True)
        if fate is DROPPED and bad.endswith("0\n") and bad != good
    ]
    assert told == []
    assert DROPPED in fates or around.startswith("if"), "a lie stays one"


def test_where_calls_of_a_function_differ_nothing_is_said() -> None:
    script = commands(parse("run() { ./train.sh; }\nrun || true\nrun || exit 3"))
    assert status_of(script[0], script).fate is Fate.UNKNOWN

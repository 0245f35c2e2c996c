"""The command line as real processes; preflight runs on this very machine, with probes made for the test."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click
import psutil
import pytest

from diagnostics.cli import guarded
from diagnostics.core.errors import DoctorError

PROJECT = Path(__file__).parents[2]
DEADLINE_S = 60
STAGES = "  stages: host, launch, rendezvous, collectives, device, data, model, dry-run, hosts"
# The probes of the doctor are replaced by those of a folder; everything else is what a user starts.
WITH_PROBES = """
import sys
import diagnostics.commands.preflight
folder = sys.argv.pop(1)
if folder:
    diagnostics.preflight.__path__ = [folder]
from diagnostics.cli import main
main()
"""
HEAD = (
    "from diagnostics.machine.facts import ChildTimeout\n"
    "from diagnostics.preflight.probe import ProbeResult, Skip, Stage\n"
)
PASSING = HEAD + (
    "CODE, NAME, STAGE = 'P101', 'healthy', Stage.HOST\n"
    "def probe(machine, config):\n"
    "    return ProbeResult(title=f'{config.nproc} ranks on {config.backend}', measured={'latency_us': 12.5})\n"
)
FAILING = HEAD + (
    "from diagnostics.core.findings import Evidence, Finding, Severity\n"
    "CODE, NAME, STAGE = 'P201', 'ill', Stage.LAUNCH\n"
    "def probe(machine, config):\n"
    "    return ProbeResult(title='', findings=(Finding(code=CODE, name=NAME, severity=Severity.ERROR,\n"
    "        title='it is ill', where='here', evidence=(Evidence(source='a look', observed='red'),)),))\n"
)
WARNING = FAILING.replace("ERROR", "WARNING")
CRASHING = HEAD + "CODE, NAME, STAGE = 'P202', 'faulty', Stage.LAUNCH\ndef probe(machine, config):\n    1 / 0\n"
# Writes the pid of a grandchild, which ignores what can be ignored, and then waits for ever.
WAITING = HEAD + (
    "import pathlib, sys\n"
    "CODE, NAME, STAGE = 'P202', 'waiting', Stage.LAUNCH\n"
    "STUBBORN = '''\n"
    "import os, signal, subprocess, sys, time\n"
    "signal.signal(signal.SIGINT, signal.SIG_IGN); signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True)\n"
    "open(sys.argv[1] + '.part', 'w').write(f'{os.getpid()} {child.pid}')\n"
    "os.rename(sys.argv[1] + '.part', sys.argv[1])\n"
    "time.sleep(600)\n"
    "'''\n"
    "def probe(machine, config):\n"
    "    machine.child.run([sys.executable, '-c', STUBBORN, str(config.record_dir / 'pids')], deadline_s=600)\n"
)


@pytest.fixture
def probes(tmp_path: Path) -> Path:
    folder = tmp_path / "probes"
    folder.mkdir()
    (folder / "healthy.py").write_text(PASSING)
    return folder


def argv(probes: Path | str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", WITH_PROBES, str(probes), *arguments]


def environment(**changes: str) -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(PROJECT), **changes}


def run(
    tmp_path: Path, *arguments: str, probes: Path | str = "", env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        argv(probes, *arguments),
        cwd=tmp_path,
        env=env or environment(),
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
    )


def timeless(text: str) -> list[str]:
    """Returns lines without what changes from run to run."""
    text = re.sub(r"\(\d+\.\d s\)", "(0.0 s)", text)
    return re.sub(r"\d{8}-\d{6}", "TIME", text).splitlines()


# What needs no machine


@pytest.mark.parametrize(
    ("arguments", "sentences"),
    [
        (["explain", "????"], ["error: unknown code '????'", "  list them: ups-doctor explain --list"]),
        (
            ["explain", "torch-zipp"],
            ["error: unknown code 'torch-zipp'; did you mean 'torch-zip'?", "  list them: ups-doctor explain --list"],
        ),
        (["explain"], ["error: explain needs a CODE", "  list them: ups-doctor explain --list"]),
        (
            ["preflight", "--stages", "hots"],
            [
                "error: unknown stage 'hots'; did you mean 'hosts'?",
                STAGES,
            ],
        ),
        (
            ["preflight", "--stages", "model"],
            ["error: stage 'model' needs a CONFIG", "  ups-doctor preflight CONFIG --stages model"],
        ),
        (["preflight", "--stages", ","], ["error: --stages needs at least one stage", STAGES]),
        (
            ["preflight", "--skip", "lanch"],
            [
                "error: unknown check or stage 'lanch'; did you mean 'launch'?",
                "  list them: ups-doctor preflight --list",
            ],
        ),
        (
            ["preflight", "--python", "./no/python"],
            [
                "error: --python ./no/python: no such program, or it may not be run",
                "  check it: ls -lL ./no/python; which python3",
            ],
        ),
        (
            ["preflight", "absent.yaml"],
            [
                f"preflight of absent.yaml, python {sys.executable}",
                "error: absent.yaml: no such file",
                "  check the spelling: ls -l .",
            ],
        ),
        (["preflight", "--set", "a=1"], ["error: --set needs a CONFIG whose keys it overrides"]),
        (
            ["preflight", "a.yaml", "--script", "train.py"],
            ["error: CONFIG and --script exclude each other: a CONFIG's trainer starts its own ranks"],
        ),
        (
            ["preflight", "--script", "trein.py", "--epochs", "1"],
            ["error: --script trein.py: no such file or program", "  check the spelling: ls -l *.py"],
        ),
        (
            ["preflight", "--thresholds", "absent.yaml"],
            [
                "error: cannot read the configuration absent.yaml: no such file or folder",
                "  check the spelling: ls -l .",
            ],
        ),
    ],
)  # fmt: skip
def test_wrong_use_is_one_sentence_with_a_remedy_and_exit_code_2(
    tmp_path: Path, arguments: Sequence[str], sentences: list[str]
) -> None:
    done = run(tmp_path, *arguments)
    assert (done.stdout, done.stderr.splitlines(), done.returncode) == ("", sentences, 2)
    assert list(tmp_path.iterdir()) == []


def test_a_mistyped_command_names_the_nearest(tmp_path: Path) -> None:
    done = run(tmp_path, "prefligth")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("Error: no command 'prefligth'; did you mean 'preflight'?")


def test_the_command_line_shows_its_version_and_its_commands(tmp_path: Path) -> None:
    version = r"ups-doctor, version \d+\.\d+\.\d+ \(python 3\.[\d.]+, Linux \S+ \w+\)\n"
    assert re.fullmatch(version, run(tmp_path, "--version").stdout)
    shown = run(tmp_path, "--help").stdout
    assert all(f"\n  {name} " in shown for name in ("preflight", "explain", "scan-cache"))


def test_the_list_of_commands_has_whole_sentences_and_imports_no_command() -> None:
    code = (
        "import sys; from diagnostics.cli import doctor\n"
        "doctor().main(['--help'], standalone_mode=False)\n"
        "print('MODULES', *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment())
    said, _, modules = done.stdout.partition("MODULES ")
    assert {"torch", "rich", "psutil", "numpy", "yaml", "pynvml"} & set(modules.split()) == set()
    assert not [name for name in modules.split() if name.startswith("diagnostics.commands.")]
    commands = said.partition("Commands:\n")[2]
    assert "..." not in commands
    assert {"run", "bisect-model", "top"} < set(re.findall(r"^  ([a-z-]+) ", commands, re.MULTILINE))
    assert "from the FOLDER that `ups-doctor run` left or from its logs." in " ".join(commands.split())


def test_explain_prints_the_plugins_own_text(tmp_path: Path) -> None:
    done = run(tmp_path, "explain", "c101")
    assert done.returncode == 0
    assert done.stdout.startswith("C101  torch-zip\n\nA torch file (zip archive)")
    assert run(tmp_path, "explain", "Torch-Zip").stdout == done.stdout


def test_every_code_is_listed(tmp_path: Path) -> None:
    lines = run(tmp_path, "explain", "--list").stdout.splitlines()
    assert [line for line in lines if not re.match(r"[ACDPY]\d{3}  [a-z0-9-]+: .+\.$", line)] == []


def test_a_failure_class_explains_all_that_lead_to_it(tmp_path: Path) -> None:
    lines = run(tmp_path, "explain", "masked-exit").stdout.splitlines()
    assert [line for line in lines if re.match(r"D\d{3}  ", line)] == [
        "D401  failure-hidden-in-rank",
        "D402  failure-hidden-by-parent",
        "D705  write-cut-off",
    ]


def test_a_reader_that_goes_away_gets_no_traceback_and_a_code_that_is_no_verdict(tmp_path: Path) -> None:
    (tmp_path / "probe_runner.py").write_text("from diagnostics.cli import main\nmain()\n")
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "probe_runner", "explain", "--list"],
        cwd=tmp_path, env=environment(), stdout=writing, stderr=subprocess.PIPE, text=True, timeout=DEADLINE_S,
    )  # fmt: skip
    os.close(writing)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, "")


# The guard


def failing(error: BaseException) -> click.Command:
    def callback() -> None:
        raise error

    return click.Command("failing", callback=callback)


@pytest.mark.parametrize(
    ("error", "code", "shown"),
    [
        (DoctorError("it is so", hint="do this\nthen that"), 1, "error: it is so\n  do this\n  then that\n"),
        (DoctorError("it is so", exit_code=70), 70, "error: it is so\n"),
        (
            FileNotFoundError(2, "x", "gone.txt"),
            1,
            "error: cannot use gone.txt: no such file or folder\n  check the spelling: ls -l .\n",
        ),
        (
            OSError(28, "x"),
            1,
            "error: cannot go on: the disk is full\n  free some space (df -h .) and run the command again\n",
        ),
        (KeyboardInterrupt(), 130, "\ninterrupted by Ctrl-C\n"),
        (click.ClickException("wrong"), 1, "Error: wrong\n"),
    ],
)  # fmt: skip
def test_every_known_error_is_a_sentence_and_a_code(
    error: BaseException, code: int, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert guarded(lambda: failing(error), "failing", []) == code
    assert capsys.readouterr().err == shown


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_standard_stream_that_is_closed_costs_nothing_but_what_would_stand_there(tmp_path: Path, closed: str) -> None:
    (tmp_path / "cache.npy").write_bytes(b"")
    command = f'"{sys.executable}" -c "from diagnostics.cli import main; main()" scan-cache cache.npy {closed}'
    done = subprocess.run(["/bin/sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert ("FAIL" in done.stdout) is (" >&-" not in f" {closed}")


def test_a_fault_of_the_program_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        guarded(lambda: failing(ZeroDivisionError()), "failing", [])


def test_ctrl_c_while_a_command_is_loaded_is_told_too(capsys: pytest.CaptureFixture[str]) -> None:
    def load() -> click.Command:
        raise KeyboardInterrupt

    assert guarded(load, "loading", []) == 130
    assert capsys.readouterr().err == "interrupted by Ctrl-C\n"


def test_what_a_library_raises_while_ctrl_c_goes_through_it_is_told_as_ctrl_c(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def load() -> click.Command:
        frames: list[str] = []
        try:
            raise KeyboardInterrupt
        finally:
            frames[0].encode()  # as a writer of pictures that has none yet

    assert guarded(load, "loading", []) == 130
    assert capsys.readouterr().err == "interrupted by Ctrl-C\n"


def test_a_step_of_another_command_leaves_it_to_that_one_to_say_what_stopped_both(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert guarded(lambda: failing(KeyboardInterrupt()), "step", [], is_step=True) == 130
    assert capsys.readouterr().err == "\n"  # click ends the line in which a terminal shows ^C
    assert guarded(lambda: failing(DoctorError("no such thing")), "step", [], is_step=True) == 1
    assert capsys.readouterr().err == "error: no such thing\n"


@pytest.fixture(autouse=True)
def _signal_handlers_stay() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


# Preflight


def test_a_healthy_preflight_shows_each_check_and_where_the_report_is(tmp_path: Path, probes: Path) -> None:
    done = run(tmp_path, "preflight", "--nproc", "3", "--backend", "gloo", probes=probes)
    assert timeless(done.stdout) == ["ok    P101  3 ranks on gloo", ""]
    assert timeless(done.stderr) == [
        f"preflight of this machine, no CONFIG, python {sys.executable}",
        "1 check, nothing found (0.0 s)",
        "report: reports/TIME-preflight/report.md",
    ]
    assert done.returncode == 0
    (folder,) = (tmp_path / "reports").glob("*-preflight")
    assert sorted(path.name for path in folder.iterdir()) == ["report.html", "report.json", "report.md"]


def test_an_error_is_exit_code_1_and_others_still_run(tmp_path: Path, probes: Path) -> None:
    (probes / "ill.py").write_text(FAILING)
    (probes / "faulty.py").write_text(CRASHING)
    done = run(tmp_path, "preflight", "--nproc", "2", probes=probes)
    assert timeless(done.stdout) == [
        "ok    P101  2 ranks on auto",
        "FAIL  P201  it is ill",
        "            read: a look: red",
        "CRASH? P202  faulty: ZeroDivisionError: division by zero",
        "",
    ]
    assert timeless(done.stderr)[1] == ("3 checks: 1 error, 1 undecided (0.0 s)   explain: ups-doctor explain P201")
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("file", "flags", "code"), [(WARNING, [], 0), (WARNING, ["--strict"], 1), (CRASHING, [], 3), (FAILING, [], 1)]
)
def test_the_exit_code_is_the_verdicts(tmp_path: Path, probes: Path, file: str, flags: list[str], code: int) -> None:
    (probes / "other.py").write_text(file)
    assert run(tmp_path, "preflight", *flags, probes=probes).returncode == code


def test_json_alone_is_on_stdout(tmp_path: Path, probes: Path) -> None:
    (probes / "ill.py").write_text(FAILING)
    done = run(tmp_path, "preflight", "--json", "--skip", "P101", probes=probes)
    answer = json.loads(done.stdout)
    assert (answer["schema"], answer["exit_code"], done.returncode) == (1, 1, 1)
    assert [(item["code"], item["status"]) for item in answer["outcomes"]] == [("P101", "skipped"), ("P201", "done")]
    (report,) = (tmp_path / "reports").glob("*/report.json")
    assert json.loads(report.read_text())["verdict"]["outcomes"] == answer["outcomes"]


def test_a_report_folder_that_cannot_be_written_does_not_cost_the_answer(tmp_path: Path, probes: Path) -> None:
    (tmp_path / "taken").write_text("mine")
    done = run(tmp_path, "preflight", "--report-dir", "taken", "--nproc", "2", probes=probes)
    assert (timeless(done.stdout)[0], done.returncode) == ("ok    P101  2 ranks on auto", 0)
    assert done.stderr.splitlines()[-1] == (
        "no report was written: cannot write taken: it exists already (choose another name, or move it away)"
    )
    assert (tmp_path / "taken").read_text() == "mine"


def test_the_next_run_is_told_what_the_last_good_one_measured(tmp_path: Path, probes: Path) -> None:
    (probes / "comparing.py").write_text(
        HEAD + "CODE, NAME, STAGE = 'P102', 'comparing', Stage.HOST\n"
        "def probe(machine, config):\n    return ProbeResult(title=str(dict(config.last_good)))\n"
    )
    first, second = (run(tmp_path, "preflight", "--nproc", "2", probes=probes) for _ in range(2))
    assert timeless(first.stdout)[1] == "ok    P102  {}"
    assert timeless(second.stdout)[1] == "ok    P102  {'P101': {'latency_us': 12.5}}"
    assert len(list((tmp_path / "reports").glob("*/report.md"))) == 2


def test_what_stands_behind_script_belongs_to_the_script(tmp_path: Path, probes: Path) -> None:
    (tmp_path / "train.py").touch()
    (probes / "script.py").write_text(
        HEAD + "CODE, NAME, STAGE = 'P102', 'script', Stage.HOST\n"
        "def probe(machine, config):\n    return ProbeResult(title=repr(config.script))\n"
    )
    done = run(tmp_path, "preflight", "--nproc", "2", "--script", "train.py", "--nproc", "9", "--", "-v", probes=probes)
    assert timeless(done.stdout)[:2] == [
        "ok    P101  2 ranks on auto",
        "ok    P102  ('train.py', '--nproc', '9', '--', '-v')",
    ]


def test_the_list_shows_order_and_needs_and_starts_nothing(tmp_path: Path, probes: Path) -> None:
    (probes / "late.py").write_text(
        HEAD + "CODE, NAME, STAGE, REQUIRES = 'P601', 'late-one', Stage.DATA, ('P101',)\ndef probe(m, c): pass\n"
    )
    done = run(tmp_path, "preflight", "--list", probes=probes)
    assert done.stdout.splitlines() == [
        "P101  host        healthy",
        "P601  data        late one (needs a CONFIG, P101)",
    ]
    assert list(tmp_path.iterdir()) == [probes]


def on_a_terminal(command: list[str], cwd: Path, env: Mapping[str, str]) -> str:
    """Returns what a command writes to a terminal of its own, stdout and stderr together."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(command, cwd=cwd, env=env, stdin=follower, stdout=follower, stderr=follower)
    os.close(follower)
    written = bytearray()
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        if select.select([leader], [], [], 0.5)[0]:
            try:
                written += os.read(leader, 65536)
            except OSError:  # the other end is closed: the process has ended
                break
    os.close(leader)
    assert process.wait(timeout=DEADLINE_S) == 0
    return written.decode()


def test_a_terminal_gets_colours_and_a_live_line_that_leaves_no_trace(tmp_path: Path, probes: Path) -> None:
    env = {name: value for name, value in environment(TERM="xterm").items() if name != "NO_COLOR"}
    shown = on_a_terminal(argv(probes, "preflight", "--nproc", "2"), tmp_path, env)
    assert "...   P101  healthy 0.0 s" in shown
    assert "\r\033[K\033[32mok\033[0m    P101  2 ranks on auto\r\n" in shown


def test_no_color_is_respected(tmp_path: Path, probes: Path) -> None:
    shown = on_a_terminal(argv(probes, "preflight", "--nproc", "2"), tmp_path, environment(TERM="xterm", NO_COLOR="1"))
    assert "\033[32m" not in shown
    assert "ok    P101  2 ranks on auto\r\n" in shown


def wait_for(folder: Path, pattern: str, process: subprocess.Popen[str]) -> str:
    """Returns the text of the first file that matches, as soon as there is one."""
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline and process.poll() is None:
        for path in folder.glob(pattern):
            return path.read_text()
        time.sleep(0.02)
    raise AssertionError(f"{pattern} did not appear; exit code {process.poll()}")


def alive(pid: int) -> bool:
    # An orphan that was killed stays a zombie where the container's first process reaps nothing.
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize(("number", "code", "name"), [(signal.SIGINT, 130, "Ctrl-C"), (signal.SIGTERM, 143, "SIGTERM")])
def test_a_stop_in_the_middle_leaves_a_report_and_no_orphan(
    tmp_path: Path, probes: Path, number: signal.Signals, code: int, name: str
) -> None:
    (probes / "waiting.py").write_text(WAITING)
    process = subprocess.Popen(
        argv(probes, "preflight", "--nproc", "2"), cwd=tmp_path, env=environment(),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    pids = wait_for(tmp_path, "reports/*-preflight/pids", process).split()
    family = [member.pid for member in psutil.Process(process.pid).children(recursive=True)]
    os.killpg(process.pid, number)
    out, err = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == code
    assert timeless(out) == ["ok    P101  2 ranks on auto", ""]
    assert timeless(err)[1:] == [
        "interrupted after 1 of 2 checks, nothing found, 1 skipped (0.0 s)",
        "report: reports/TIME-preflight/report.md",
        *([""] if "" in timeless(err) else []),
        f"interrupted by {name}",
    ]
    assert [pid for pid in {*map(int, pids), *family} if alive(pid)] == []
    (report,) = (tmp_path / "reports").glob("*/report.md")
    assert "**Interrupted: this is what was found before that.**" in report.read_text()

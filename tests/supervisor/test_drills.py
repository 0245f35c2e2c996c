"""Drills on the doctor itself: the job is not harmed, its exit code is its own, the report says what is missing."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from jobs import DOCTOR, facts, is_alive, output, python, report, run, start, until

WITHOUT_PTRACE = Path(__file__).parent.parent / "zoo" / "without_ptrace.py"

# Ranks without torch: a launcher that ends the others when one fails, as torchrun does.
RANKS = """\
import os, subprocess, sys
count, code = int(sys.argv[1]), sys.argv[2]
ranks = {}
for rank in range(count):
    env = {**os.environ, "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(count)}
    process = subprocess.Popen([sys.executable, code], env=env)
    ranks[process.pid] = process
pid, status = os.wait()
if sys.argv[3:] == ["leave"]:
    os._exit(1)
for process in ranks.values():
    if process.pid != pid:
        process.terminate()
for process in ranks.values():
    if process.pid != pid:
        process.wait()
sys.exit(1 if status else 0)
"""

DIES = """\
import os, time


def train(rank):
    if rank == {rank}:
        while len(os.listdir("here")) < {count}:
            time.sleep(0.02)
        while os.environ.get("WAIT") and str(os.getpid()) not in open(os.environ["WAIT"]).read():
            time.sleep(0.02)
        raise ValueError("no such batch")
    time.sleep(300)


os.makedirs("here", exist_ok=True)
open(f"here/{{os.environ['RANK']}}", "w").close()
train(int(os.environ["RANK"]))
"""


def ranks(folder: Path, count: int, rank: int) -> tuple[str, ...]:
    """Writes a job of `count` ranks of which one dies when all are there; returns its command line."""
    (folder / "launch.py").write_text(RANKS)
    (folder / "train.py").write_text(DIES.format(rank=rank, count=count))
    return sys.executable, "launch.py", str(count), "train.py"


def missing(tmp_path: Path) -> str:
    """What the report says is missing."""
    return "\n".join(f"{one['what']}: {one['why']}" for one in facts(tmp_path)["missing"])


def test_sixty_four_ranks_one_of_which_dies(tmp_path: Path) -> None:
    noticed = {"WAIT": str(tmp_path / "report" / "record" / "job.json")}  # the rank dies when its process is known
    assert run(tmp_path, *ranks(tmp_path, 64, 37), env=noticed).returncode == 1
    found = report(tmp_path)
    assert (found["culprit_ranks"], found["location"]) == ([37], "train.py:10")
    assert len(found["ranks"]) == 64
    job = facts(tmp_path)
    died = min(one["end"]["at_s"] for one in job["processes"] if one["variables"].get("RANK") == "37")
    assert job["ended_s"] - died < 10


def without_rights() -> list[str]:
    """The words that start a program with the rights of an ordinary user; root's Python may be root's alone."""
    if os.geteuid() != 0:
        return []
    if not shutil.which("setpriv"):
        pytest.skip("needs setpriv to give up root's rights")
    return ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]


def test_where_agents_cannot_write_the_job_runs_and_the_report_says_so(tmp_path: Path) -> None:
    doctor = [*DOCTOR, "--report-dir", str(tmp_path / "report"), "--"]
    job = ["bash", "-c", 'chmod 500 "$UPS_DOCTOR_DIR"; exec "$@"', "drill", *ranks(tmp_path, 2, 1)]
    ended = subprocess.run(
        [*without_rights(), *doctor, *job],
        cwd=tmp_path,
        capture_output=True,
        timeout=60,
        check=False,
        env={**os.environ, "WAIT": str(tmp_path / "report" / "record" / "job.json")},  # until the rank was noticed
    )
    assert ended.returncode == 1, ended.stderr.decode()
    found = report(tmp_path)
    assert (found["culprit_ranks"], found["location"]) == ([1], "train.py:10")  # from what it printed
    assert [found["coverage"][rank]["agent"] for rank in "01"] == [False, False]
    (said,) = [line for line in (tmp_path / "report" / "report.md").read_text().split("\n") if "no agent" in line]
    assert said.startswith("- rank 0, 1: no agent: ")
    assert said.endswith("or its user may not write into record/agents")


def _in_namespace(tmp_path: Path, mount: str, *job: str) -> subprocess.CompletedProcess[bytes]:
    """Runs the doctor in a mount namespace of its own, after `mount`."""
    if not shutil.which("unshare") or os.geteuid() != 0:
        pytest.skip("needs root and unshare to mount a small tmpfs")
    script = f'{mount} || exit 99; exec "$@"'
    doctor = [*DOCTOR, "--report-dir", str(tmp_path / "small" / "report"), "--", *job]
    ended = subprocess.run(
        ["unshare", "-m", "bash", "-c", f"{script}", "drill", *doctor],
        cwd=tmp_path,
        capture_output=True,
        timeout=60,
        check=False,
    )
    if ended.returncode == 99:
        pytest.skip("mount is not permitted")
    return ended


FULL_DISK = """\
import json, os, subprocess, sys
try:
    with open("small/fill", "wb") as fill:
        while True: fill.write(b"x" * 4096); fill.flush()
except OSError as error: print(error.strerror, flush=True)
subprocess.run([sys.executable, "-c", "print('child')"])
print("x" * 100000)
sys.exit(5)
"""


def test_a_disk_that_fills_while_the_job_runs_does_it_no_harm(tmp_path: Path) -> None:
    (tmp_path / "small").mkdir()
    ended = _in_namespace(tmp_path, "mount -t tmpfs -o size=700k none small", *python(FULL_DISK))
    assert ended.returncode == 5, ended.stderr.decode()
    assert ended.stdout.split(b"\n")[:2] == [b"No space left on device", b"child"]
    assert len(ended.stdout) > 100000
    assert b"No space left" in ended.stderr


def test_a_disk_without_any_room_does_the_job_no_harm_and_its_report_lies_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "small").mkdir()
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    ended = _in_namespace(
        tmp_path, "mount -t tmpfs -o size=16k none small", *python("print('runs'); raise SystemExit(6)")
    )
    assert (ended.returncode, ended.stdout) == (6, b"runs\n")
    (folder,) = (tmp_path / "temporary").iterdir()
    said = f"ups-doctor: cannot write {tmp_path}/small/report: the disk is full; the report goes to {folder}\n"
    assert ended.stderr.decode().startswith(said)
    assert json.loads((folder / "report.json").read_text())["job_exit_code"] == 6


def test_a_shared_memory_of_one_mib_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "small").mkdir()
    ended = _in_namespace(
        tmp_path,
        "mount -t tmpfs -o size=1m none /dev/shm",
        *python("from multiprocessing import Queue; q = Queue(); q.put(1); print(q.get()); raise SystemExit(7)"),
    )
    assert (ended.returncode, ended.stdout) == (7, b"1\n")
    shutil.move(tmp_path / "small" / "report", tmp_path / "report")
    assert report(tmp_path)["job_exit_code"] == 7


def test_where_nobody_may_be_traced_and_py_spy_is_missing_there_is_a_report(tmp_path: Path) -> None:
    doctor = [*DOCTOR, "--report-dir", str(tmp_path / "report"), "--", *ranks(tmp_path, 2, 1), "leave"]
    ended = subprocess.run(
        [*without_rights(), sys.executable, str(WITHOUT_PTRACE), *doctor],
        cwd=tmp_path,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 1, ended.stderr.decode()
    assert (report(tmp_path)["culprit_ranks"], report(tmp_path)["location"]) == ([1], "train.py:10")
    # Some kernels let py-spy read a process of the same user all the same.
    seen = [path.name for path in (tmp_path / "report" / "record" / "captures").glob("stacks-from-outside-*")]
    assert len(seen) == 1 or "stacks from outside: the kernel refuses" in missing(tmp_path)
    # A process looked at while it ends or execs has no argv yet or any more.
    assert not [one for one in facts(tmp_path)["processes"] if "py-spy" in "".join(one["argv"][:1])]


def test_without_py_spy_there_is_a_report(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    python_alone = tmp_path / "bin" / "python"
    python_alone.symlink_to(os.path.realpath(sys.executable))
    doctor = [*DOCTOR[1:], "--report-dir", str(tmp_path / "report"), "--", *ranks(tmp_path, 2, 1), "leave"]
    environ = {**os.environ, "PATH": os.defpath, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    ended = subprocess.run(
        [python_alone, *doctor], cwd=tmp_path, capture_output=True, timeout=60, check=False, env=environ
    )
    assert ended.returncode == 1, ended.stderr.decode()
    assert (report(tmp_path)["culprit_ranks"], report(tmp_path)["location"]) == ([1], "train.py:10")
    assert "py-spy was found neither" in missing(tmp_path)


FLOOD = """\
import os, signal
block = (b"step 1 loss 0.5 lr 0.1 " * 50 + b"\\n") * 60
for _ in range(SIZE // len(block)): os.write(1, block)
print("the end", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_rank_that_floods_its_log_leaves_a_bounded_record_and_costs_bounded_memory(tmp_path: Path) -> None:
    size = 1 << 30
    # A process between us: what a child is forked from counts as its memory, and this one is large.
    code = (
        "import resource, subprocess, sys\n"
        "code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode\n"
        "print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    doctor = [*DOCTOR, "--report-dir", str(tmp_path / "report"), "--quiet", "--"]
    between = [sys.executable, "-c", code, *doctor, *python(FLOOD.replace("SIZE", str(size)))]
    told = subprocess.run(between, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=True)
    code_of_doctor, largest_kib = map(int, told.stdout.split())
    assert code_of_doctor == 137
    assert largest_kib < 100 << 10  # of the supervisor and what it started
    assert sum(path.stat().st_size for path in (tmp_path / "report").rglob("*") if path.is_file()) < 8 << 20
    assert output(tmp_path).endswith("the end\n")


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_the_doctor_runs_with_closed_descriptors(tmp_path: Path, closed: str) -> None:
    code = "import os; open('fds', 'w').write('done'); os._exit(5)"
    doctor = [*DOCTOR, "--report-dir", str(tmp_path / "report"), "--", *python(code)]
    ended = subprocess.run(
        ["bash", "-c", f'"$@" {closed}', "drill", *doctor], cwd=tmp_path, capture_output=True, timeout=60, check=False
    )
    assert ended.returncode == 5, ended.stderr.decode()
    assert (tmp_path / "fds").read_text() == "done"
    assert report(tmp_path)["job_exit_code"] == 5


def test_the_folder_the_job_was_started_in_may_vanish(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    code = f"import os, shutil; shutil.rmtree({str(gone)!r}); raise ValueError('after that')"
    doctor = [*DOCTOR, "--report-dir", str(tmp_path / "report"), "--", *python(code)]
    ended = subprocess.run(doctor, cwd=gone, capture_output=True, timeout=60, check=False)
    assert ended.returncode == 1, ended.stderr.decode()
    assert "ValueError: after that" in report(tmp_path)["root_cause"]


def test_a_report_folder_that_the_job_removes_costs_the_report_and_no_more(tmp_path: Path) -> None:
    code = "import os, shutil; shutil.rmtree('report'); print('went on', flush=True); os._exit(4)"
    ended = run(tmp_path, *python(code))
    assert (ended.returncode, ended.stdout) == (4, b"went on\n")
    assert b"Traceback" not in ended.stderr
    assert b"no report" in ended.stderr


def test_without_home_a_temporary_folder_and_a_locale(tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "LANG": "C", "LC_ALL": "C", "TMPDIR": "/proc/nowhere"}
    code = "import sys; sys.stdout.buffer.write('Fähre — 損失\\n'.encode()); raise ValueError('Fähre — 損失')"
    (tmp_path / "job.py").write_text(code, encoding="utf-8")
    doctor = [*DOCTOR, "--report-dir", str(tmp_path / "report"), "--", sys.executable, "job.py"]
    ended = subprocess.run(doctor, cwd=tmp_path, capture_output=True, timeout=60, check=False, env=environ)
    assert (ended.returncode, ended.stdout) == (1, "Fähre — 損失\n".encode())
    assert b"job.py:1" in ended.stderr
    assert "Fähre — 損失" in report(tmp_path)["root_cause"]
    assert "Fähre — 損失" in output(tmp_path)


def test_words_with_spaces_quotes_and_newlines_reach_the_job_and_the_report_stays_whole(tmp_path: Path) -> None:
    words = ["a b", "two\nlines", "", "quo'te\"", "--flag=ü | x", "`id`", "\x1b[31m"]
    ended = run(tmp_path, *python("import sys; print(sys.argv[1:]); sys.exit(3)"), *words)
    assert (ended.returncode, ended.stdout.decode()) == (3, f"{words}\n")
    assert facts(tmp_path)["command"][3:] == words
    assert "\x1b" not in (tmp_path / "report" / "report.md").read_text()


@pytest.mark.parametrize("leave", ["os.setpgid(0, 0)", "os.setsid()"])
def test_a_job_that_leaves_its_group_is_still_followed_and_ended(tmp_path: Path, leave: str) -> None:
    code = (
        f"import os, time\nif os.fork(): os.wait(); os._exit(3)\n{leave}\n"
        "open('pid', 'w').write(str(os.getpid())); os.rename('pid', 'child'); time.sleep(300)"
    )
    doctor = start(tmp_path, *python(code), stderr=subprocess.DEVNULL)
    until((tmp_path / "child").exists)
    doctor.send_signal(signal.SIGTERM)
    assert doctor.wait(40) != 0
    until(lambda: not is_alive(int((tmp_path / "child").read_text())))
    assert report(tmp_path)["outcome"] != "hang"


def test_a_child_that_is_stopped_and_continued_is_no_failure(tmp_path: Path) -> None:
    code = (
        "import os, signal, time\npid = os.fork()\nif not pid: time.sleep(0.1); os._exit(0)\n"
        "os.kill(pid, signal.SIGSTOP); os.waitpid(pid, os.WUNTRACED); time.sleep(0.5)\n"
        "os.kill(pid, signal.SIGCONT); print(os.waitpid(pid, 0)[1])"
    )
    ended = run(tmp_path, *python(code))
    assert (ended.returncode, ended.stdout) == (0, b"0\n")
    assert report(tmp_path)["outcome"] == "ok"


def few_files(count: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))


def test_few_open_files_do_the_job_no_harm(tmp_path: Path) -> None:
    code = "import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE)); open('/dev/null'); raise SystemExit(2)"
    ended = run(tmp_path, *python(code), preexec_fn=few_files(24))
    assert (ended.returncode, ended.stdout) == (2, b"(24, 24)\n")
    assert report(tmp_path)["job_exit_code"] == 2


@pytest.mark.parametrize("count", [8, 12, 23])
def test_with_too_few_open_files_the_job_runs_unwatched_and_one_sentence_says_so(tmp_path: Path, count: int) -> None:
    code = (
        "import os, signal; print(sorted(os.listdir('/proc/self/fd'))); "
        "print(signal.getsignal(signal.SIGPIPE), 'UPS_DOCTOR_DIR' in os.environ, flush=True); os.kill(os.getpid(), 9)"
    )
    bare = subprocess.run(python(code), capture_output=True, check=False, preexec_fn=few_files(count))
    ended = run(tmp_path, *python(code), preexec_fn=few_files(count))
    assert (ended.returncode, ended.stdout) == (-signal.SIGKILL, bare.stdout)
    assert ended.stderr.decode() == (
        f"ups-doctor: the job runs unwatched, and there will be no report: only {count} files may be open at once, "
        "the doctor needs 24: ulimit -n 1024\n"
    )


@pytest.mark.parametrize("options", [[], ["--report-dir", "new"]])
def test_in_a_folder_that_was_removed_before_the_start_the_job_runs(tmp_path: Path, options: list[str]) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f'rmdir {gone}; exec "$@"'
    doctor = [*DOCTOR, *options, "--", *python("import os; print('ran', flush=True); os._exit(4)")]
    ended = subprocess.run(["bash", "-c", script, "drill", *doctor], cwd=gone, capture_output=True, check=False)
    assert (ended.returncode, ended.stdout) == (4, b"ran\n")
    place = Path(re.findall(r"the report goes to (\S+)", ended.stderr.decode())[0])
    assert json.loads((place / "record" / "job.json").read_text())["cwd"] == str(gone)
    assert (place / "report.md").exists()
    shutil.rmtree(place)


def test_a_folder_of_the_users_keeps_its_rights_also_behind_a_link(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir(mode=0o755)
    target.chmod(0o755)
    (tmp_path / "report").symlink_to(target)
    assert run(tmp_path, "true").returncode == 0
    assert target.stat().st_mode & 0o777 == 0o755
    modes = {path.name: path.stat().st_mode & 0o777 for path in target.iterdir()}
    assert modes == {"record": 0o700, "report.html": 0o600, "report.json": 0o600, "report.md": 0o600}


def test_nothing_is_written_through_a_link_that_took_the_place_of_a_folder(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "all.txt").write_text("mine")
    parts = "output captures sources"
    script = (
        f"for part in {parts}; do rm -r report/record/$part; ln -s $PWD/theirs report/record/$part; done; "
        "echo said; echo '1/0' > job.py; exec $PYTHON job.py"
    )
    ended = run(tmp_path, "bash", "-c", script, env={"PYTHON": sys.executable})
    assert (ended.returncode, ended.stdout) == (1, b"said\n")
    assert {path.name: path.read_text() for path in theirs.iterdir()} == {"all.txt": "mine"}
    for part in parts.split():
        assert f"record/{part}: a link has taken its place, and nothing is written through it" in missing(tmp_path)


def test_paths_that_are_printed_can_be_pasted_in_any_locale(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/my r\xc3\xa9ports \xff"
    for number, environ in enumerate([{"LC_ALL": "C"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}]):
        doctor = [*DOCTOR, "--report-dir", folder + b"/%d" % number, "--", "true"]
        ended = subprocess.run(doctor, cwd=tmp_path, capture_output=True, env={**os.environ, **environ}, check=True)
        word = ended.stderr.split(b"report: ")[1].strip()
        shown = subprocess.run(["bash", "-c", b"head -n 1 " + word], cwd=tmp_path, capture_output=True, check=True)
        assert shown.stdout == b"# Run report\n"

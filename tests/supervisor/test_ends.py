"""How the job ends: exit codes, signals, what it leaves behind, and what job.json says of it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from jobs import DOCTOR, facts, is_alive, output, python, report, run, start, until

from diagnostics.supervisor.start import refusal


@pytest.mark.parametrize("code", [0, 3, 77])
def test_the_jobs_exit_code_is_ours(tmp_path: Path, code: int) -> None:
    assert run(tmp_path, "sh", "-c", f"exit {code}").returncode == code
    assert (facts(tmp_path)["exit_code"], facts(tmp_path)["signal"]) == (code, None)
    assert facts(tmp_path)["processes"][0]["argv"] == ["sh", "-c", f"exit {code}"]  # also where it ended at once


def test_a_program_that_is_not_python_and_fails_is_not_said_to_have_raised(tmp_path: Path) -> None:
    assert run(tmp_path, "ls", "no-such-file").returncode == 2
    told = report(tmp_path)
    assert (told["outcome"], told["failure_class"], told["culprit_ranks"]) == ("crash", "unknown", [])
    assert "no-such-file" in told["root_cause"]


def test_a_job_that_dies_of_a_signal_ends_us_as_a_shell_would_say(tmp_path: Path) -> None:
    assert run(tmp_path, *python("import os; os.kill(os.getpid(), 11)")).returncode == 128 + signal.SIGSEGV
    end = facts(tmp_path)["processes"][0]["end"]
    assert (end["exit_code"], end["signal"], end["source"]) == (None, signal.SIGSEGV, "supervisor-wait")


def test_the_end_of_a_process_that_is_not_our_child_is_known(tmp_path: Path) -> None:
    child = "import time; time.sleep(0.4); import os; os.kill(os.getpid(), 9)"
    other = "import time; time.sleep(0.4); raise SystemExit(5)"
    code = (
        "import subprocess, sys\n"
        f"both = [subprocess.Popen([sys.executable, '-c', one]) for one in ({child!r}, {other!r})]\n"
        "for one in both: one.wait()"
    )
    assert run(tmp_path, *python(code)).returncode == 0
    ends = {one["argv"][2]: one["end"] for one in facts(tmp_path)["processes"] if one["argv"][2:]}
    assert (ends[child]["signal"], ends[child]["exit_code"]) == (signal.SIGKILL, None)
    assert (ends[other]["signal"], ends[other]["exit_code"]) == (None, 5)
    assert {ends[child]["source"], ends[other]["source"]} == {"pidfd"}
    assert all(0.3 < ends[one]["at_s"] < 30 for one in (child, other))


def test_a_launcher_that_is_missing_is_reported_as_a_shell_would(tmp_path: Path) -> None:
    ended = run(tmp_path, "torchrunn", "train.py")
    assert ended.returncode == 127
    assert "torchrunn: command not found" in output(tmp_path)
    assert report(tmp_path)["exit_code"] == 127


def test_a_folder_in_the_place_of_a_command_is_said_to_be_one(tmp_path: Path) -> None:
    refused = PermissionError(13, "Permission denied")
    assert refusal(str(tmp_path), refused) == (f"{tmp_path}: Is a directory", 126)
    (tmp_path / "run.sh").touch()
    assert refusal(f"{tmp_path}/run.sh", refused) == (f"{tmp_path}/run.sh: Permission denied", 126)


def test_a_script_without_a_first_line_runs_as_in_a_shell(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("echo ran; exit 4\n")
    script.chmod(0o755)
    ended = run(tmp_path, "./run.sh")
    assert (ended.returncode, ended.stdout) == (4, b"ran\n")


def test_what_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    run(tmp_path, "bash", "-c", "trap '' TERM; (sleep 300; sleep 300) & echo $!")
    assert {one["signal"] for one in facts(tmp_path)["sent"]} >= {signal.SIGTERM, signal.SIGKILL}
    assert not [one for one in facts(tmp_path)["processes"] if is_alive(one["pid"])]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["Ctrl-C", "SIGTERM"])
def test_asked_to_stop_we_end_the_job_and_still_report(tmp_path: Path, number: int, code: int) -> None:
    process = start(tmp_path, *python("import time; print(1, flush=True); time.sleep(300)"), stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(number)
    assert process.wait(60) == code
    process.stdout.close()
    assert facts(tmp_path)["ended_by"] == "interrupt"
    assert facts(tmp_path)["sent"][0]["why"] == "interrupt"
    assert report(tmp_path)["exit_code"] == code


def test_a_second_sigterm_hurries(tmp_path: Path) -> None:
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True); time.sleep(300)"
    process = start(tmp_path, *python(code), stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    until(lambda: facts(tmp_path)["ended_by"] == "interrupt")
    with pytest.raises(subprocess.TimeoutExpired):  # the same one, come twice, is told by time
        process.wait(0.5)
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 143
    process.stdout.close()


def test_a_job_without_progress_is_ended_with_a_report(tmp_path: Path) -> None:
    ended = run(tmp_path, *python("import time; time.sleep(300)"), options=["--stall-timeout", "1"])
    assert facts(tmp_path)["ended_by"] == "stall-timeout"
    assert ended.returncode == 124


def test_a_thousand_forks_are_followed(tmp_path: Path) -> None:
    code = "import os\nfor _ in range(1000):\n    if os.fork() == 0: os._exit(0)\n    os.wait()"
    assert run(tmp_path, *python(code)).returncode == 0
    assert facts(tmp_path)["processes"][0]["end"]["exit_code"] == 0


def test_a_folder_that_holds_something_is_refused(tmp_path: Path) -> None:
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "notes.txt").write_text("mine")
    ended = run(tmp_path, "true")
    assert ended.returncode == 2
    assert b"is not empty" in ended.stderr


def test_without_a_folder_to_write_to_the_job_runs_and_the_report_is_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "reports").write_text("a file in the way")
    ended = subprocess.run([*DOCTOR, "--", "sh", "-c", "exit 6"], cwd=tmp_path, capture_output=True, check=False)
    assert ended.returncode == 6
    told = ended.stderr.decode()
    assert "cannot write reports: it exists already; the report goes to /tmp/ups-doctor-run-" in told
    place = Path(told.split("the report goes to ")[1].split()[0])
    assert {path.name for path in place.iterdir()} == {"record", "report.html", "report.json", "report.md"}
    shutil.rmtree(place)


def test_nothing_of_ours_is_in_the_jobs_environment_but_the_agents(tmp_path: Path) -> None:
    ended = run(tmp_path, "env", "-0")
    names = {entry.partition(b"=")[0].decode() for entry in ended.stdout.split(b"\0") if entry}
    added = names - set(os.environ)
    assert added <= {
        "PYTHONPATH", "UPS_DOCTOR_DIR", "UPS_DOCTOR_DEEP", "UPS_DOCTOR_STREAMS", "UPS_DOCTOR_CHILD",
        "UPS_DOCTOR_LOCALS", "UPS_DOCTOR_FLIGHT",
    }  # fmt: skip


def test_a_rank_that_was_killed_leaves_no_pipe_in_the_record(tmp_path: Path) -> None:
    code = (
        "import os, torch.distributed as dist\n"
        "dist.init_process_group('gloo', store=dist.HashStore(), rank=0, world_size=1)\n"
        "assert any(name.endswith('.fifo') for name in os.listdir(os.environ['UPS_DOCTOR_DIR']))\n"
        "os.kill(os.getpid(), 9)"
    )
    assert run(tmp_path, *python(code)).returncode == 128 + signal.SIGKILL
    assert [path for path in tmp_path.rglob("*") if path.is_fifo()] == []

"""Jobs that hang and jobs that only look like it, under the real doctor: who is ended at once, and who is not."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest
from jobs import facts, report, run

from diagnostics.record.process_samples import FILE_NAME, samples_of

# Two ranks forked from one process that has imported torch: `body` is what each does with `rank`.
RANKS = """
import json, os, sys, threading, time
from datetime import timedelta
import torch
import torch.distributed as dist

def rank_main(rank):
{body}

pids = []
for rank in range({ranks}):
    pid = os.fork()
    if not pid:
        os.environ.update(RANK=str(rank), WORLD_SIZE="{ranks}")
        dist.init_process_group("gloo", init_method=f"file://{{os.getcwd()}}/store", rank=rank, world_size={ranks})
        for _ in range(5):
            dist.all_reduce(torch.ones(4))
        rank_main(rank)
        dist.barrier()
        dist.destroy_process_group()
        os._exit(0)
    pids.append(pid)
if "until-proved" in sys.argv:  # and reported, which on a busy machine may have begun as a stall
    while not (os.path.exists("report/report.md") and json.load(open("report/record/job.json"))["proved"]):
        time.sleep(0.1)
    for pid in pids:
        os.kill(pid, 9)
sys.exit(max(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 127 for pid in pids))
"""


def _run(tmp_path: Path, body: str, *options: str, ranks: int = 2, arguments: tuple[str, ...] = ()):
    (tmp_path / "train.py").write_text(RANKS.format(body=textwrap.indent(textwrap.dedent(body), "    "), ranks=ranks))
    return run(tmp_path, sys.executable, "train.py", *arguments, options=options)


DIFFERENT_CALLS = """
    if rank == 0:
        dist.all_reduce(torch.ones(8))
    else:
        dist.broadcast(torch.ones(3), src=0)
"""


def test_a_deadlock_is_proved_and_ended_in_seconds(tmp_path: Path) -> None:
    done = _run(tmp_path, DIFFERENT_CALLS)
    job = facts(tmp_path)
    (proved,) = job["proved"]
    assert (done.returncode, job["ended_by"], proved["ranks"]) == (124, "deadlock", [0, 1])
    assert (report(tmp_path)["outcome"], report(tmp_path)["exit_code"]) == ("hang", 124)
    assert job["stalls"] == []  # it was over before patience was
    assert proved["proved_s"] - proved["began_s"] < 20  # on a machine with much else to do
    assert {one["why"] for one in job["sent"]} <= {"deadlock", "leftover"}
    first, last = (line for line in done.stderr.decode().splitlines() if line.startswith("ups-doctor: "))
    parted = last.removeprefix("ups-doctor: The job hung: ").removesuffix(".")
    began, _, where = first.partition(" It can never go on, and is ended. See ")
    assert began == f"ups-doctor: Provisional: The job makes no progress: {parted}."
    assert Path(where) == tmp_path / "report/report.md"


def test_without_leave_to_end_it_a_proved_deadlock_is_reported_while_it_goes_on(tmp_path: Path) -> None:
    done = _run(tmp_path, DIFFERENT_CALLS, "--no-kill", arguments=("until-proved",))
    job = facts(tmp_path)
    assert (done.returncode != 124, job["ended_by"], len(job["proved"])) == (True, "itself", 1)
    assert done.stderr.decode().count("report.md") >= 2  # while it went on, and at its end


STILL_ENDING = {
    "a child of it, as a data worker, ends some seconds later and holds its connection open": """
        if rank == 1:
            if not os.fork():
                time.sleep(6)
            os._exit(0)
        dist.all_reduce(torch.ones(8))
    """,
    "it still works at its end, a quarter of the time": """
        if rank == 1:
            import atexit
            @atexit.register
            def write_results():
                until = time.monotonic() + 6
                while time.monotonic() < until:
                    sum(range(1_000_000))
                    time.sleep(0.1)
            sys.exit(0)
        dist.all_reduce(torch.ones(8))
    """,
}


@pytest.mark.parametrize("body", STILL_ENDING.values(), ids=STILL_ENDING)
def test_a_rank_whose_connection_is_about_to_close_is_waited_for(tmp_path: Path, body: str) -> None:
    done = _run(tmp_path, body)
    said = report(tmp_path)
    assert (done.returncode, facts(tmp_path)["proved"], said["outcome"], said["culprit_ranks"]) == (1, [], "crash", [1])


HEALTHY = {
    "rank 0 works outside while the other waits": """
        time.sleep(6 if rank == 0 else 0)
        dist.all_reduce(torch.ones(8))
    """,
    "asynchronous work that nobody waits for yet": """
        work = dist.all_reduce(torch.ones(8), async_op=True) if rank == 0 else None
        time.sleep(4)
        if rank == 0:
            time.sleep(1)
            work.wait()
        else:
            dist.all_reduce(torch.ones(8))
    """,
    "a helper thread makes the call that is missing": """
        def call():
            time.sleep(5)
            dist.all_reduce(torch.ones(8))
        if rank == 1:
            helper = threading.Thread(target=call)
            helper.start()
            helper.join()
        else:
            dist.all_reduce(torch.ones(8))
    """,
    "a timeout that the job catches": """
        apart = dist.new_group(timeout=timedelta(seconds=5))
        try:
            if rank == 0:
                dist.monitored_barrier(apart, timeout=timedelta(seconds=5))
        except RuntimeError:
            print("nobody came")
        for _ in range(3):
            dist.all_reduce(torch.ones(4))
            time.sleep(3)
    """,
}


@pytest.mark.parametrize("body", HEALTHY.values(), ids=HEALTHY.keys())
def test_a_job_that_only_waits_for_long_is_left_alone(tmp_path: Path, body: str) -> None:
    done = _run(tmp_path, body)
    job = facts(tmp_path)
    assert (done.returncode, job["ended_by"], job.get("proved", [])) == (0, "itself", []), done.stderr.decode()
    assert report(tmp_path)["outcome"] == "ok"


def test_a_stall_is_sampled_and_what_ended_well_says_where_the_ranks_stood(tmp_path: Path) -> None:
    body = """
        for _ in range(4):  # a stall is seen sooner once there are steps
            weight = torch.nn.Parameter(torch.ones(1))
            torch.optim.SGD([weight], lr=0.1).step()
        optimizer = torch.optim.SGD([weight], lr=0.1)
        for _ in range(5):
            optimizer.step()
        if rank == 1:
            time.sleep(14)  # the line
        dist.all_reduce(torch.ones(8))
    """
    done = _run(tmp_path, body)
    line = next(
        number for number, text in enumerate((tmp_path / "train.py").read_text().splitlines(), 1) if "the line" in text
    )
    (stall,) = facts(tmp_path)["stalls"]
    assert (done.returncode, report(tmp_path)["outcome"], stall["over_s"] is not None) == (0, "ok", True)
    assert [note for note in report(tmp_path)["notes"] if f"rank 1 stood at train.py:{line}" in note]
    samples = samples_of((tmp_path / "report" / "record" / "captures" / FILE_NAME).read_text())
    calls = {one.syscall.partition(" ")[0] for own in samples.values() for one in own}
    assert calls & {"clock_nanosleep", "select", "pselect6"}
    assert "futex" in calls
    assert all(own[-1].at_s - own[0].at_s > 2 for own in samples.values())

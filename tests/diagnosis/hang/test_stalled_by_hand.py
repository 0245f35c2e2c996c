"""What a rank waits for that came no further, and at which line: each kind of wait, and what is no such wait."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hand_made import agent, raised
from stalled import BACKWARD, BARRIER, WORKER, at, child, hung, lib, looks, rank, sample

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence
from diagnostics.core.frame import Frame
from diagnostics.diagnosis.crash import object_cannot_be_pickled
from diagnostics.diagnosis.hang import rank_outside_collectives
from diagnostics.diagnosis.signature import Match
from diagnostics.diagnosis.stalled_processes import stalled_rows
from diagnostics.dynamic.collectives.rank_state import Whereabouts
from diagnostics.dynamic.job.job import ExceptionSource, Job, JobProcess, ProcessRole
from diagnostics.dynamic.stall.rank_activity import rank_positions
from diagnostics.record.process_samples import Sample
from diagnostics.record.supervisor_facts import Stall

SOURCE = """\
import fcntl, os, queue, subprocess, sys, time
def work(path, q, lock, done):
    while not os.path.exists(path):
        time.sleep(0.1)
    while True:
        if time.time() > 9:
            raise TimeoutError
        if done():
            break
        pause()
    fcntl.flock(path, fcntl.LOCK_EX)
    q.get()
    with lock:
        pass
    input("go on? ")
    subprocess.run(["tool"])
    time.sleep(3600)
    while error > 0.1:
        x = relax(x)
        error = norm(x)
    lock.acquire()
    os.kill(os.getpid(), 19)
    while True:
        try:
            connect()
            break
        except OSError:
            time.sleep(1)
    for step in range(9):
        loss.backward()
        optimizer.step()
        time.sleep(delay)
    breakpoint()
    total = sum(range(10**12))
def pause():
    time.sleep(0.5)
def walk(shards):
    for shard in shards:
        time.sleep(0.4)
    while not done():
        for _ in range(4):
            time.sleep(0.1)
"""
GET = (lib("threading.py:327", "Condition.wait"), lib("queue.py:171", "Queue.get"))
WAIT = (lib("subprocess.py:2004", "Popen._try_wait"), lib("subprocess.py:1264", "Popen.wait"))
NEXT = (
    lib("multiprocessing/queues.py:113", "Queue.get"),
    lib("site-packages/torch/utils/data/dataloader.py:1291", "_MultiProcessingDataLoaderIter._try_get_data"),
)
IDLE = (
    lib("selectors.py:415", "_PollLikeSelector.select"),
    lib("multiprocessing/queues.py:113", "Queue.get"),
    Frame(file=WORKER[1].file, line=334, function="_worker_loop"),
)
LOCKED = "waits for a lock that another holder does not release"


def told(match: Match | None) -> tuple[tuple[int, ...], tuple[int, ...], str, Confidence] | None:
    """Returns culprits, victims, the line and how sure that is."""
    if match is None:
        return None
    return match.culprit_ranks, match.victim_ranks, match.locations[0], match.finding.confidence


def reason(job: Job, number: int = 1) -> str:
    """Returns what a rank waits for, in words."""
    found = next(one for one in rank_positions(job) if one.process.rank == number).reason
    return found.text if found is not None else ""


@pytest.mark.parametrize(
    ("stack", "seen", "line", "words"),
    [
        (("train.py:4",), looks(syscall="clock_nanosleep"), "train.py:3",
         'sleeps and looks again while "not os.path.exists(path)" holds'),
        (("train.py:36 pause", "train.py:10"), looks(syscall="clock_nanosleep"), "train.py:8",
         'sleeps and looks again until "done()"'),
        (("train.py:28",), looks(syscall="clock_nanosleep"), "train.py:25",
         'sleeps and looks again until "connect()" works'),
        (("train.py:11",), looks(syscall="flock 5", open_file="/data/cache.lock"), "train.py:11",
         "waits for a lock on a file /data/cache.lock"),
        ((*GET, "train.py:12"), looks(syscall="futex"), "train.py:12", "waits for an item of a queue"),
        (("train.py:39",), looks(syscall="clock_nanosleep"), "train.py:39",
         'sleeps for each of "shards", one after another'),
        (("train.py:42",), looks(syscall="clock_nanosleep"), "train.py:40",
         'sleeps and looks again while "not done()" holds'),
        (("train.py:13",), looks(syscall="futex"), "train.py:13", LOCKED),
        (("train.py:21",), looks(syscall="futex"), "train.py:21", LOCKED),
        (("train.py:17",), looks(syscall="clock_nanosleep"), "train.py:17", "sleeps"),
        (("train.py:32",), looks(syscall="clock_nanosleep"), "train.py:32", "sleeps"),
        (("train.py:20",), looks("R", 0.97), "train.py:18", 'loops while "error > 0.1" holds, and uses 97 % of a CPU'),
        (("train.py:34",), looks("R", 1.0), "train.py:34", "computes and uses 100 % of a CPU"),
        (("train.py:16",), (), "train.py:16", "stands still; nothing tells what it waits for"),
        (("train.py:34",), looks("D", open_file="/nfs/set.bin", syscall="read 7"), "train.py:34",
         "waits inside the kernel on /nfs/set.bin, as on a disk or network file system"),
        ((lib("socket.py:706", "SocketIO.readinto"), lib("urllib/request.py:216", "urlopen"), "train.py:34"),
         looks(syscall="recvfrom 9"), "train.py:34", "waits for an answer from the network"),
        ((lib("threading.py:1119", "Thread.join"), "train.py:34"), looks(syscall="futex"), "train.py:34",
         "waits for a thread to end"),
        (("train.py:34",), looks(syscall="openat"), "train.py:34",
         "waits for a file: to open it, to read or to write it"),
    ],
)  # fmt: skip
def test_what_a_rank_waits_for_is_said_in_one_sentence(
    stack: tuple[str | Frame, ...], seen: tuple[Sample, ...], line: str, words: str, tmp_path: Path
) -> None:
    frames = [at(tmp_path, *place.split()) if isinstance(place, str) else place for place in stack]
    job = hung(
        tmp_path, rank(0, *BACKWARD, at(tmp_path, "train.py:30")), rank(1, *frames, samples=seen),
        files={"train.py": SOURCE},
    )  # fmt: skip
    assert told(rank_outside_collectives.match(job)) == ((1,), (0,), line, Confidence.LIKELY)
    assert reason(job) == words


@pytest.mark.parametrize(
    ("stack", "seen", "line", "words"),
    [
        (("train.py:22",), looks("T"), "train.py:22", "is stopped by a signal (SIGSTOP, SIGTSTP or SIGTTIN)"),
        (("train.py:15",), looks(syscall="read 0", open_file="/dev/pts/3"), "train.py:15",
         "waits for somebody to type at the terminal /dev/pts/3"),
        ((lib("cmd.py:126", "Cmd.cmdloop"), lib("pdb.py:361", "Pdb.interaction"), "train.py:34"),
         looks(syscall="read 0"), "train.py:34", "is at the prompt of a debugger"),
    ],
)  # fmt: skip
def test_a_rank_that_cannot_go_on_by_itself_is_proof(
    stack: tuple[str | Frame, ...], seen: tuple[Sample, ...], line: str, words: str, tmp_path: Path
) -> None:
    frames = [at(tmp_path, place) if isinstance(place, str) else place for place in stack]
    job = hung(tmp_path, rank(0, *BARRIER), rank(1, *frames, samples=seen), files={"train.py": SOURCE})
    assert told(rank_outside_collectives.match(job)) == ((1,), (0,), line, Confidence.CONFIRMED)
    assert reason(job) == words


def test_a_loop_is_the_one_that_all_looks_stand_in(tmp_path: Path) -> None:
    inner = [at(tmp_path, "solve.py:3", "relax"), at(tmp_path, "solve.py:4", "relax")]
    outer = [at(tmp_path, "train.py:19"), at(tmp_path, "train.py:20")]
    ways = [(inner[0], outer[0]), (inner[1], outer[0]), (outer[1],), (inner[0], outer[0])]
    seen = tuple(sample(10 + 2 * n, "R", 2.0 * n, stack=way) for n, way in enumerate(ways))
    files = {"train.py": SOURCE, "solve.py": "def relax(x):\n    for i in range(9):\n        x += 1\n        x -= 1\n"}
    job = hung(tmp_path, rank(0, *BACKWARD), rank(1, *ways[-1], samples=seen), files=files)
    assert told(rank_outside_collectives.match(job)) == ((1,), (0,), "train.py:18", Confidence.LIKELY)


def test_a_data_worker_is_followed_to_its_own_line(tmp_path: Path) -> None:
    ranks = rank(0, *BACKWARD), rank(1, *NEXT, at(tmp_path, "train.py:34"), samples=looks(syscall="poll"))
    workers = (
        child(201, *IDLE, part=ProcessRole.DATA_WORKER),
        child(202, at(tmp_path, "train.py:21"), *WORKER, part=ProcessRole.DATA_WORKER, samples=looks(syscall="futex")),
    )
    job = hung(tmp_path, *ranks, *workers, files={"train.py": SOURCE})
    match = rank_outside_collectives.match(job)
    assert match is not None
    assert match.locations[:2] == ("train.py:21", "train.py:34")
    assert reason(job) == (
        "waits for a worker of its DataLoader: worker 202 waits for a lock that another holder does not release, at "
        "train.py:21"
    )


def test_workers_that_all_wait_for_work_are_said_to(tmp_path: Path) -> None:
    ranks = rank(0, *BACKWARD), rank(1, *NEXT, at(tmp_path, "train.py:34"))
    job = hung(tmp_path, *ranks, child(201, *IDLE, part=ProcessRole.DATA_WORKER), files={"train.py": SOURCE})
    assert reason(job).endswith("all 1 of them wait for work: a batch was lost on its way")
    assert object_cannot_be_pickled.match(job) is None


def test_a_batch_that_could_not_be_pickled_is_why_it_never_came(tmp_path: Path) -> None:
    files = {
        "train.py": SOURCE + "import rows\n",
        "rows.py": "def make():\n    def collate(rows):\n        return lambda: rows\n",
    }
    printed = raised("AttributeError: Can't pickle local object 'make.<locals>.collate.<locals>.<lambda>'",
                     how=ExceptionSource.PRINTED)  # fmt: skip
    ranks = rank(0, *BACKWARD), rank(1, *NEXT, at(tmp_path, "train.py:34"))
    worker = child(201, *IDLE, part=ProcessRole.DATA_WORKER, raised=(printed,))
    lost = object_cannot_be_pickled.match(hung(tmp_path, *ranks, worker, files=files))
    assert lost is not None
    assert (lost.failure_class, lost.outcome) == ("pickling-failure", JobOutcome.HANG)
    assert (lost.culprit_ranks, lost.locations[0]) == ((1,), "rows.py:3")


def test_a_child_is_followed_through_a_shell_to_what_it_reads(tmp_path: Path) -> None:
    tool = child(302, at(tmp_path, "tool.py:1"), parent=301, argv=("python", "tool.py"), samples=looks(
        syscall="read 0", open_file="pipe:[71]"))  # fmt: skip
    shell = child(301, argv=("sh", "run.sh"), samples=looks(syscall="wait4 302"), part=ProcessRole.SHELL)
    waits = rank(1, *WAIT, at(tmp_path, "train.py:16"), samples=looks(syscall="wait4 301"))
    files = {"train.py": SOURCE, "tool.py": "import sys; sys.stdin.read()\n"}
    job = hung(tmp_path, rank(0, *BARRIER), waits, shell, tool, files=files)
    assert reason(job) == (
        "waits for a process that it started: process 301 (run.sh) waits for a process that it started: process 302 "
        "(tool.py) reads standard input, a pipe that nobody writes to or closes, at tool.py:1"
    )
    match = rank_outside_collectives.match(job)
    assert match is not None
    assert match.locations[:2] == ("train.py:16", "tool.py:1")


def test_a_fork_that_waits_for_its_queue_to_be_read_is_told_at_the_join_and_not_where_it_was_started(
    tmp_path: Path,
) -> None:
    child_at_its_end = (
        lib("threading.py:1119", "Thread.join"),
        lib("multiprocessing/queues.py:199", "Queue._finalize_join"),
        lib("multiprocessing/process.py:317", "BaseProcess._bootstrap"),
        lib("multiprocessing/process.py:121", "BaseProcess.start"),
        at(tmp_path, "train.py:16"),  # its parent's line, where it was forked
    )
    join = lib("multiprocessing/popen_fork.py:43", "Popen.wait"), lib("multiprocessing/process.py:149", "join")
    forked = child(301, *child_at_its_end, agent=agent(pid=301, forked_from=101), samples=looks(syscall="futex"))
    waits = rank(1, *join, at(tmp_path, "train.py:17"), samples=looks(syscall="wait4 301"))
    job = hung(tmp_path, rank(0, *BARRIER), waits, forked, files={"train.py": SOURCE})
    assert reason(job).endswith("waits at its end until what it put into a queue is read")
    match = rank_outside_collectives.match(job)
    assert match is not None
    assert match.locations[0] == "train.py:17"
    assert "train.py:16" not in match.locations
    assert match.finding.fix is not None
    assert match.finding.fix.text.startswith("train.py:17: get() everything out of the queue before join()")


def test_who_has_a_locked_file_open_too_is_named(tmp_path: Path) -> None:
    capture = '{"state": "S", "files": ["/data/cache.lock"]}'
    holder = rank(0, *BARRIER, at(tmp_path, "train.py:30"))
    waits = rank(1, at(tmp_path, "train.py:11"), samples=looks(syscall="flock 5", open_file="/data/cache.lock"))
    job = hung(tmp_path, holder, waits, files={"train.py": SOURCE})
    job = replace(job, extra={"proc-100.json": capture})
    assert reason(job) == "waits for a lock on a file /data/cache.lock, which rank 0 has open too"
    match = rank_outside_collectives.match(job)
    assert match is not None
    assert match.locations[:2] == ("train.py:11", "train.py:30")


@pytest.mark.parametrize(
    ("get", "words"),
    [(GET, "waits for an item of a queue"), (NEXT[:1], "waits for an item of a queue between processes")],
)
def test_neither_a_queue_of_threads_nor_an_idle_worker_leads_to_a_child(
    get: tuple[Frame, ...], words: str, tmp_path: Path
) -> None:
    started = (lib("multiprocessing/process.py:314", "BaseProcess._bootstrap"), at(tmp_path, "train.py:39"))
    idle = child(201, *IDLE, *started, part=ProcessRole.DATA_WORKER, agent=agent(pid=201))
    waits = rank(1, *get, at(tmp_path, "train.py:12"), samples=looks(syscall="futex"))
    job = hung(tmp_path, rank(0, *BARRIER), waits, idle, files={"train.py": SOURCE})
    assert reason(job) == words


def test_a_thread_that_died_is_why_nobody_puts(tmp_path: Path) -> None:
    died = raised("OSError: disk gone", f"{tmp_path}/train.py:36", how=ExceptionSource.THREAD)
    job = hung(
        tmp_path, rank(0, *BARRIER), rank(1, *GET, at(tmp_path, "train.py:12"), raised=(died,)),
        files={"train.py": SOURCE},
    )  # fmt: skip
    assert reason(job) == "waits for an item of a queue; a thread of its had died of OSError: disk gone"


def test_a_lock_that_the_thread_itself_or_another_one_holds(tmp_path: Path) -> None:
    text = """def f():
    with self.lock:
        with self.lock:
            pass
def g():
    with box.lock:
        time.sleep(9)
"""
    takes = at(tmp_path, "locks.py:3", "f")
    job = hung(tmp_path, rank(0, *BARRIER), rank(1, takes, samples=looks(syscall="futex")), files={"locks.py": text})
    assert reason(job) == "waits for self.lock, which this thread itself took at locks.py:2"
    other = (at(tmp_path, "locks.py:7", "g"),)
    outer = at(tmp_path, "locks.py:2", "f")
    job = hung(tmp_path, rank(0, *BARRIER), rank(1, outer, threads=(other,), samples=looks(syscall="futex")))
    assert reason(job) == "waits for self.lock, which another thread, now at locks.py:7, took at locks.py:6"


PREPARES = """\
def prepare(rank, path):
    if rank:
        while not os.path.exists(path):
            time.sleep(0.1)
    else:
        write(path)
def write(path):
    raise ValueError(path)
try:
    prepare(rank, "done")
except ValueError:
    log("no data")
dist.barrier()
"""


@pytest.mark.parametrize(("inside", "culprit", "line"), [("prepare", 0, 8), ("other", 1, 3)])
def test_who_gave_up_what_the_other_waits_for_is_to_blame(tmp_path: Path, inside: str, culprit: int, line: int) -> None:
    polls, waits = at(tmp_path, "train.py:4", "prepare"), at(tmp_path, "train.py:13", "<module>")
    path = (at(tmp_path, "train.py:8", "write"), at(tmp_path, "train.py:6", inside))
    error = replace(raised("ValueError: done", how=ExceptionSource.LOGGED), path=path, user_path=path)
    job = hung(tmp_path, rank(0, *BARRIER, waits, raised=(error,)), rank(1, polls), files={"train.py": PREPARES})
    match = rank_outside_collectives.match(job)
    assert match is not None
    assert (match.culprit_ranks, match.locations[0]) == ((culprit,), f"train.py:{line}")
    assert match.finding.title.startswith("Rank 0 raised ValueError: done at train.py:8, kept it") is (culprit == 0)


CLOSES = """def main():
    try:
        parse(row)
    finally:
        q.get()
main()
"""


def test_a_rank_that_raised_and_stands_in_a_finally_is_told_by_what_it_raised(tmp_path: Path) -> None:
    stack = (*GET, at(tmp_path, "train.py:5"))
    path = (at(tmp_path, "train.py:3"),)
    error = replace(raised("ValueError: no row", how=ExceptionSource.HELD), path=path, user_path=path)
    for errors, line in (((error,), 3), ((), 5)):
        job = hung(tmp_path, rank(0, *BARRIER), rank(1, *stack, raised=errors), files={"train.py": CLOSES})
        match = rank_outside_collectives.match(job)
        assert match is not None
        assert (match.culprit_ranks, match.locations[0]) == ((1,), f"train.py:{line}")


def test_all_ranks_outside_and_a_rank_that_runs_alone(tmp_path: Path) -> None:
    polls = at(tmp_path, "train.py:4")
    both = hung(tmp_path, rank(0, polls), rank(1, polls), files={"train.py": SOURCE})
    assert told(rank_outside_collectives.match(both)) == ((0, 1), (), "train.py:3", Confidence.LIKELY)
    alone = hung(tmp_path, rank(0, *GET, at(tmp_path, "train.py:12")), files={"train.py": SOURCE})
    assert told(rank_outside_collectives.match(alone)) == ((0,), (), "train.py:12", Confidence.LIKELY)


def test_code_of_the_user_inside_the_wrapped_forward_is_outside(tmp_path: Path) -> None:
    wrapper = lib("site-packages/torch/nn/parallel/distributed.py:1600", "DistributedDataParallel.forward")
    job = hung(
        tmp_path, rank(0, *BARRIER),
        rank(1, at(tmp_path, "train.py:4", "forward"), wrapper, at(tmp_path, "train.py:29")),
        files={"train.py": SOURCE},
    )  # fmt: skip
    assert [one.stand for one in rank_positions(job)] == [Whereabouts.WAITING, Whereabouts.OUTSIDE]


@pytest.mark.parametrize(
    "ranks",
    [
        (rank(0, *BARRIER), rank(1, *BACKWARD)),  # both wait: another signature's
        (rank(0, *BARRIER), rank(1, lib("threading.py:1583", "_shutdown"))),  # leaving: another signature's
        (rank(0, *BARRIER), rank(1)),  # nothing tells where it stands
        (rank(0, *BARRIER), rank(1, code=0, signal=None, ended_by="")),  # it had ended
    ],
)
def test_no_rank_is_called_stalled_that_waits_leaves_or_is_not_seen(
    ranks: tuple[JobProcess, ...], tmp_path: Path
) -> None:
    assert rank_outside_collectives.match(hung(tmp_path, *ranks)) is None


def test_a_job_that_went_on_has_no_stalled_rank(tmp_path: Path) -> None:
    ranks = rank(0, *BARRIER), rank(1, at(tmp_path, "train.py:4"))
    over = (Stall(began_s=5.0, seen_s=20.0, over_s=30.0),)
    assert rank_outside_collectives.match(hung(tmp_path, *ranks, stalls=over, ended_by="itself")) is None


def test_the_report_says_what_each_process_did(tmp_path: Path) -> None:
    ranks = rank(0, *BARRIER, at(tmp_path, "train.py:30")), rank(1, *NEXT, at(tmp_path, "train.py:34"))
    workers = (
        child(201, *IDLE, part=ProcessRole.DATA_WORKER, samples=looks(syscall="poll")),
        child(202, at(tmp_path, "train.py:20"), *WORKER, part=ProcessRole.DATA_WORKER, samples=looks("R", 1.0)),
    )
    job = hung(tmp_path, *ranks, *workers, files={"train.py": SOURCE})
    loop = 'loops while "error > 0.1" holds, and uses 100 % of a CPU'
    assert [(row.who, row.place, row.does, row.looks) for row in stalled_rows(job, JobOutcome.HANG)] == [
        ("rank 0", "train.py:30", "waits for its peers in barrier", ""),
        ("rank 1", "train.py:34", f"waits for a worker of its DataLoader: worker 202 {loop}, at train.py:18", ""),
        ("its data worker 201", "", "waits for work", "sleeps in poll, 0 % of a CPU, 4 looks over 6.0 s"),
        ("its data worker 202", "train.py:20", loop, "runs, 100 % of a CPU, 4 looks over 6.0 s"),
    ]
    assert stalled_rows(job, JobOutcome.CRASH) == ()

"""Jobs that did all work and do not end: what holds them up, and the line that made it."""

from __future__ import annotations

from pathlib import Path

import hand_made as made
from hung_jobs import STDLIB, hung, living, say, stack

from diagnostics.diagnosis.hang import ending_held_up
from diagnostics.dynamic.job.job import JobProcess, ProcessRole
from diagnostics.record.agent_data import CollectiveCall
from diagnostics.record.supervisor_facts import Stall

SHUTDOWN = f"{STDLIB}/threading.py:1590:_shutdown"


def ended(pid: int, rank: int) -> JobProcess:
    return made.a_process(pid, rank=rank, agent=made.agent(made.event("exit"), pid=pid, steps=20))


TRAINED = made.event("process-group-end", "rank=1", "train.py:9", seconds=3.0)
MONITOR = """class Monitor:
    def start(self):
        self.thread = Thread(target=self.loop)
        self.thread.start()
"""


def test_a_thread_that_is_no_daemon_is_the_line_that_made_it(tmp_path: Path) -> None:
    path = ("monitor.py:4", "train.py:2")
    held = living(
        101, 1, stack(SHUTDOWN), stack("monitor.py:9:Monitor.loop", f"{STDLIB}/threading.py:982:run"),
        events=(
            made.event("thread", "ident=7 daemon=0 | Thread-1 (loop) monitor.Monitor.loop", *path), TRAINED,
            made.event("alive-at-end", "daemon=0 | Thread-1 (loop)", *path),
        ), of_agent={"steps": 20},
    )  # fmt: skip
    job = hung(ended(100, 0), held, tmp_path=tmp_path, files={"monitor.py": MONITOR})
    found = ending_held_up.match(job)
    assert say(found) == ("shutdown-hang", (1,), ("monitor.py:3", "monitor.py:4", "monitor.py:9"))
    assert found is not None
    assert found.finding.title == (
        "Rank 1 had done all work and did not end, rank 0 had ended: the interpreter waits for thread "
        "Thread-1 (loop), started at monitor.py:3, which stood at monitor.py:9; it is no daemon"
    )


def test_of_two_threads_the_one_that_still_runs_is_named(tmp_path: Path) -> None:
    held = living(
        101, 1, stack(SHUTDOWN), stack("a.py:9:beat", f"{STDLIB}/threading.py:982:run"),
        events=(
            made.event("thread", "ident=6 daemon=0 | Thread-1 m.once", "train.py:4"),
            made.event("thread", "ident=7 daemon=0 | Thread-2 m.beat", "train.py:5"), TRAINED,
            made.event("alive-at-end", "daemon=0 | Thread-1", "train.py:4"),
            made.event("alive-at-end", "daemon=0 | Thread-2", "train.py:5"),
        ),
    )  # fmt: skip
    assert say(ending_held_up.match(hung(held, tmp_path=tmp_path)))[2] == ("train.py:5", "a.py:9")


def test_an_exit_handler_is_the_line_that_registered_it(tmp_path: Path) -> None:
    held = living(
        100, 0, stack(f"{STDLIB}/queue.py:90:Queue.join", "log.py:9:flush"),
        events=(made.event("atexit", "log.flush", "train.py:6"), TRAINED), of_agent={"steps": 20},
    )  # fmt: skip
    assert say(ending_held_up.match(hung(held, ended(101, 1), tmp_path=tmp_path))) == (
        "shutdown-hang", (0,), ("train.py:6", "log.py:9"),
    )  # fmt: skip


def test_a_child_that_nobody_ends_is_the_line_that_made_it(tmp_path: Path) -> None:
    held = living(
        100, 0, stack(f"{STDLIB}/multiprocessing/process.py:149:BaseProcess.join",
                      f"{STDLIB}/multiprocessing/util.py:357:_exit_function"),
        events=(made.event("child", "pid=200 how=process | Process-1 __main__.serve", "train.py:3"),),
    )  # fmt: skip
    child = living(200, None, stack("train.py:7:serve"), part=ProcessRole.HELPER, parent_pid=100)
    job = hung(held, child, tmp_path=tmp_path, files={"train.py": "import x\np = Process(target=serve)\np.start()\n"})
    assert say(ending_held_up.match(job)) == ("shutdown-hang", (0,), ("train.py:2", "train.py:3", "train.py:7"))


def test_a_queue_that_nobody_reads_is_the_line_that_made_it(tmp_path: Path) -> None:
    held = living(
        100, 0, stack(f"{STDLIB}/threading.py:1119:Thread.join",
                      f"{STDLIB}/multiprocessing/queues.py:199:Queue._finalize_join",
                      f"{STDLIB}/multiprocessing/util.py:360:_exit_function"),
        events=(made.event("optimizer", "SGD", "train.py:4"),),
    )  # fmt: skip
    text = "from multiprocessing import Queue\nq = mp.Queue()\ndef log(x):\n    q.put(x)\n"
    job = hung(held, tmp_path=tmp_path, files={"train.py": text})
    assert say(ending_held_up.match(job)) == ("shutdown-hang", (0,), ("train.py:2", "train.py:4"))


def test_a_parent_that_joins_before_it_reads_the_queue_is_the_line(tmp_path: Path) -> None:
    held = living(
        101, 0, stack(f"{STDLIB}/multiprocessing/queues.py:199:Queue._finalize_join",
                      f"{STDLIB}/multiprocessing/util.py:360:_exit_function"),
        events=(made.event("optimizer", "SGD", "train.py:4"),), parent_pid=100,
    )  # fmt: skip
    joins = stack(f"{STDLIB}/multiprocessing/process.py:149:BaseProcess.join", "train.py:6:main")
    parent = living(100, None, joins, part=ProcessRole.LAUNCHER)
    text = "q = mp.Queue()\ndef log(x):\n    q.put(x)\ndef main():\n    start()\n    p.join()\n    q.get()\n"
    found = ending_held_up.match(hung(parent, held, tmp_path=tmp_path, files={"train.py": text}))
    assert say(found) == ("shutdown-hang", (0,), ("train.py:6", "train.py:1", "train.py:3"))
    assert found is not None
    assert found.finding.title == (
        "Rank 0 had done all work and did not end: what was put into a multiprocessing queue at train.py:3 was never "
        "read, and its writer thread waits; its parent joins it at train.py:6 and does not read"
    )


def test_a_tracker_that_does_not_finish_after_the_group_is_gone_is_where_it_waits(tmp_path: Path) -> None:
    held = living(
        100, 0, stack(f"{STDLIB}/queue.py:90:Queue.join", "tracker.py:14:Tracker.finish", "train.py:10:<module>"),
        events=(TRAINED,), of_agent={"steps": 20},
    )  # fmt: skip
    assert say(ending_held_up.match(hung(held, ended(101, 1), tmp_path=tmp_path))) == (
        "shutdown-hang", (0,), ("tracker.py:14", "train.py:10"),
    )  # fmt: skip


def test_a_rank_that_closes_its_tracker_while_its_peers_train_on_has_not_finished(tmp_path: Path) -> None:
    made_group = made.event("process-group", "rank=0 world_size=2")
    closing = living(
        100, 0, stack(f"{STDLIB}/queue.py:90:Queue.join", "tracker.py:14:Tracker.finish", "train.py:10:<module>"),
        events=(made_group,), of_agent={"steps": 20},
    )  # fmt: skip
    call = CollectiveCall(
        sequence=9, number=3, op="barrier", group="", shape="", dtype="", root=None, path=(), entered_s=4.0, left_s=None
    )
    waiting = living(101, 1, stack("train.py:11:<module>"), events=(made_group,), of_agent={"collectives": (call,)})
    assert ending_held_up.match(hung(closing, waiting, tmp_path=tmp_path)) is None


def test_a_loop_that_waits_in_its_own_training_has_not_finished(tmp_path: Path) -> None:
    text = "for epoch in range(3):\n    train()\n    run.flush()\n"
    alone = living(100, 0, stack("train.py:3:<module>"), of_agent={"steps": 20})
    assert ending_held_up.match(hung(alone, tmp_path=tmp_path, files={"train.py": text})) is None
    after = living(100, 0, stack("train.py:3:<module>"), of_agent={"steps": 20})
    text = "for epoch in range(3):\n    train()\nrun.flush()\n"
    assert say(ending_held_up.match(hung(after, tmp_path=tmp_path, files={"train.py": text})))[2] == ("train.py:3",)


def test_a_child_that_keeps_the_pipe_open_after_all_ranks_ended_is_the_line_that_started_it(tmp_path: Path) -> None:
    rank = made.a_process(100, agent=made.agent(made.event("child", "pid=200 how=popen | sleep 1000", "train.py:6")))
    child = made.a_process(
        200, rank=None, part=ProcessRole.HELPER, parent_pid=100, signal=15, ended_by="doctor", argv=("sleep", "1000")
    )
    tee = made.a_process(300, rank=None, part=ProcessRole.SHELL, signal=15, ended_by="doctor", argv=("tee", "log"))
    assert say(ending_held_up.match(hung(rank, child, tee, tmp_path=tmp_path))) == (
        "shutdown-hang", (0,), ("train.py:6",),
    )  # fmt: skip


def test_a_job_whose_threads_ended_by_themselves_is_no_hang(tmp_path: Path) -> None:
    late = made.agent(made.event("alive-at-end", "daemon=0 | Thread-1", "train.py:2"), made.event("exit"), steps=20)
    over = Stall(began_s=5.0, seen_s=16.0, over_s=17.0)
    job = made.a_job(made.a_process(100, agent=late), code=0, cwd=tmp_path, facts={"stalls": (over,)})
    assert ending_held_up.match(job) is None

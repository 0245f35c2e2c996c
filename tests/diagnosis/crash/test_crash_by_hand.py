"""What signatures of crashes say about processes put together by hand."""

from __future__ import annotations

import json
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from hand_made import a_job, a_process, agent, event, frame, frames, raised

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.crash import (
    cuda_kernel_fails,
    data_worker_dies,
    gloo_sizes_differ,
    gpu_memory_runs_out,
    host_memory_runs_out,
    import_fails,
    killed_by_oom_killer,
    killed_from_outside,
    native_code_aborts,
    native_code_crashes,
    object_cannot_be_pickled,
    peer_elsewhere_lost,
    rank_leaves,
    teardown_aborts,
    thread_dies,
    uncaught_exception,
)
from diagnostics.diagnosis.signature import Match
from diagnostics.dynamic.job.attribution import blame
from diagnostics.dynamic.job.job import ExceptionRecord, ExceptionSource, Job, JobProcess, ProcessRole, SignalSent
from diagnostics.record.agent_data import CollectiveCall
from diagnostics.record.stacks import FaulthandlerLog, ThreadStack
from diagnostics.record.supervisor_facts import SentSignal, Stall

ALL = (
    cuda_kernel_fails, data_worker_dies, gloo_sizes_differ, gpu_memory_runs_out, host_memory_runs_out, import_fails,
    killed_by_oom_killer, killed_from_outside, native_code_aborts, native_code_crashes, object_cannot_be_pickled,
    peer_elsewhere_lost, rank_leaves, teardown_aborts, thread_dies, uncaught_exception,
)  # fmt: skip


def told(match: Match | None) -> tuple[str, tuple[int, ...], tuple[str, ...]] | None:
    """Returns class, culprit ranks and lines."""
    return (match.failure_class, match.culprit_ranks, match.locations) if match is not None else None


def fault(error: str, *places: str, other: tuple[str, ...] = ()) -> FaulthandlerLog:
    """Returns faulthandler's report: the crashed thread, then the main thread where `other` is given."""
    threads = [ThreadStack(ident="1", crashed=True, frames=frames(*places))]
    threads += [ThreadStack(ident="2", crashed=False, frames=frames(*other))] if other else []
    return FaulthandlerLog(error=error, threads=tuple(threads))


def test_ranks_that_raised_at_the_same_line_are_all_culprits() -> None:
    one = a_process(1, rank=0, code=1, raised=(raised("KeyError: 'a'", "data.py:9", "train.py:4"),))
    two = a_process(
        2, rank=1, code=1, ended_by="launcher", raised=(raised("KeyError: 'b'", "data.py:9", "train.py:4"),)
    )
    found = uncaught_exception.match(a_job(one, two, culprits=(one,)))
    assert told(found) == ("python-exception", (0, 1), ("data.py:9", "train.py:4"))


def test_a_rank_that_only_lost_its_peer_at_the_line_where_that_one_failed_is_no_culprit() -> None:
    own, lost = (
        "RuntimeError: returned an invalid gradient at index 0",
        "RuntimeError: Connection closed by peer [::1]:5",
    )
    one = a_process(1, rank=1, code=1, raised=(raised(own, "train.py:4"),))
    two = a_process(2, rank=0, code=1, raised=(raised(lost, "train.py:4"),))
    assert told(uncaught_exception.match(a_job(two, one, culprits=blame((one, two))[0]))) == (
        "python-exception", (1,), ("train.py:4",),
    )  # fmt: skip


def test_a_rank_whose_peer_runs_on_another_host_is_its_victim_and_no_culprit() -> None:
    text = "RuntimeError: Connection closed by peer [10.77.0.1]:3496"

    def found(said: str, world: int, *others: JobProcess) -> Match | None:
        known = agent(pid=1, variables={"WORLD_SIZE": str(world)})
        one = a_process(1, rank=1, code=1, raised=(raised(said, "train.py:14"),), agent=known)
        processes = (one, *others)
        return peer_elsewhere_lost.match(a_job(*processes, culprits=blame(processes)[0]))

    lost = found(text, 2)
    assert lost is not None
    assert lost.finding.title == (
        f"Rank 1 lost a peer at train.py:14, none of those watched here (1 of the 2 ranks run elsewhere): {text}"
    )
    assert (lost.culprit_ranks, lost.victim_ranks, lost.locations) == ((), (1,), ("train.py:14",))
    assert found("KeyError: 'nu'", 2) is None, "a fault of its own"
    assert found("RuntimeError: Timed out waiting 1000ms for recv operation to complete", 2) is None, "a wait ran out"
    assert found(text, 2, a_process(2, rank=0)) is None, "the peer is here, and left early"
    failed = a_process(2, rank=0, code=1, raised=(raised("KeyError: 'nu'", "data.py:3"),))
    assert found(text, 3, failed) is None, "one that failed by itself is here"


def test_an_exception_raised_from_another_one_is_told_by_the_first() -> None:
    text = (
        "Traceback (most recent call last):\n  File \"data.py\", line 3, in load\n    x\nKeyError: 'nu'\n\n"
        "The above exception was the direct cause of the following exception:\n\n"
        'Traceback (most recent call last):\n  File "train.py", line 8, in <module>\n    y\nRuntimeError: no data\n'
    )
    one = a_process(code=1, raised=(raised("RuntimeError: no data", "train.py:8"),), stderr=text)
    found = uncaught_exception.match(a_job(one))
    assert told(found) == ("python-exception", (0,), ("data.py:3", "train.py:8"))
    assert found is not None
    assert "KeyError: 'nu'" in found.finding.title


@pytest.mark.parametrize(
    ("ending", "lines"),
    [
        ("    except KeyError:\n        save()\n        raise\n", ("data.py:3", "run.py:5")),
        ("    finally:\n        save()\n", ("data.py:3", "run.py:5")),
        ("    except KeyError:\n        save()\n", ("run.py:5", "data.py:3")),  # another way, which failed by itself
    ],
)
def test_what_fails_while_an_exception_is_on_its_way_out_is_told_behind_it(
    ending: str, lines: tuple[str, ...], tmp_path: Path
) -> None:
    text = (
        'Traceback (most recent call last):\n  File "run.py", line 3, in fit\n    load()\n'
        "  File \"data.py\", line 3, in load\n    x\nKeyError: 'nu'\n\n"
        "During handling of the above exception, another exception occurred:\n\n"
        'Traceback (most recent call last):\n  File "run.py", line 5, in fit\n    save()\nTypeError: no JSON\n'
    )
    one = a_process(code=1, raised=(raised("TypeError: no JSON", "run.py:5"),), stderr=text)
    job = a_job(one, cwd=tmp_path, files={"run.py": f"def fit():\n    try:\n        load()\n{ending}"})
    assert told(uncaught_exception.match(job)) == ("python-exception", (0,), lines)


def test_an_exception_of_a_data_worker_is_told_at_the_datasets_line() -> None:
    worker = a_process(
        7,
        part=ProcessRole.DATA_WORKER,
        parent_pid=1,
        raised=(raised("KeyError: 3", "data.py:5", how=ExceptionSource.WORKER),),
    )
    text = "KeyError: Caught KeyError in DataLoader worker process 0.\nOriginal Traceback (most recent call last):"
    rank = a_process(1, code=1, raised=(raised(text, "train.py:8"),))
    assert told(uncaught_exception.match(a_job(rank, worker))) == ("python-exception", (0,), ("data.py:5",))


def test_a_syntax_error_is_told_at_the_line_that_does_not_parse() -> None:
    text = (
        'Traceback (most recent call last):\n  File "train.py", line 1, in <module>\n    import model\n'
        '  File "model.py", line 3\n    def f(:\n          ^\nSyntaxError: invalid syntax\n'
    )
    one = a_process(
        code=1, raised=(raised("SyntaxError: invalid syntax (model.py, line 3)", "train.py:1"),), stderr=text
    )
    assert told(uncaught_exception.match(a_job(one))) == ("python-exception", (0,), ("model.py:3", "train.py:1"))


def test_ctrl_c_through_the_doctor_is_nobodys_fault() -> None:
    one = a_process(code=1, at_s=5.0, raised=(raised("KeyboardInterrupt", "train.py:8", at_s=4.9),))
    sent = SentSignal(pid=100, signal=2, at_s=4.8, why="interrupt")
    stopped = a_job(one, facts={"ended_by": "interrupt", "sent": (sent,)})
    assert [module.match(stopped) for module in ALL] == [None] * len(ALL)


def test_a_crash_in_a_thread_without_python_shows_the_main_threads_line_and_is_no_proof() -> None:
    one = a_process(signal=11, fault=fault("Segmentation fault", other=("train.py:12",)))
    found = native_code_crashes.match(a_job(one))
    assert told(found) == ("native-crash", (0,), ("train.py:12",))
    assert found is not None
    assert found.finding.confidence == "likely"


def test_a_rank_that_sends_itself_a_signal_died_at_the_line_that_sent_it() -> None:
    def found(sender: int, target: int) -> Match | None:
        sent = SignalSent(at_s=2.9, sender_pid=sender, target_pid=target, signal=6, path=frames("watchdog.py:21"))
        one = a_process(signal=6, fault=fault("Aborted", "train.py:33"))
        return native_code_crashes.match(a_job(one, sent=(sent,)))

    itself = found(100, 100)
    assert told(itself) == ("native-crash", (0,), ("watchdog.py:21", "train.py:33"))
    assert itself is not None
    assert itself.finding.title == (
        "Rank 0 ended by SIGABRT, which it sent to itself at watchdog.py:21; its main thread was at train.py:33"
    )
    assert told(found(100, 900)) == ("native-crash", (0,), ("train.py:33",))


def test_a_stack_full_of_the_same_frames_is_recursion() -> None:
    one = a_process(signal=11, fault=fault("Segmentation fault", *["tree.py:4"] * 100))
    found = native_code_crashes.match(a_job(one))
    assert found is not None
    assert found.finding.title == "Rank 0 died of SIGSEGV: main at tree.py:4 calls itself without end"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("double free or corruption (!prev)", "heap was damaged"),
        ("free(): invalid pointer", "heap was damaged"),
        ("terminate called after throwing an instance of 'std::runtime_error'\n  what():  bad plan", "(bad plan)"),
        ("kernel.cc:30: void run(): Assertion `n > 0' failed.", "a check in native code failed"),
    ],
)
def test_last_words_of_the_c_library_are_in_the_title(words: str, expected: str) -> None:
    one = a_process(signal=6, stderr=words, fault=fault("Aborted", "op.py:7"))
    found = native_code_aborts.match(a_job(one))
    assert told(found) == ("native-crash", (0,), ("op.py:7",))
    assert found is not None
    assert expected in found.finding.title


def test_ranks_that_died_of_one_mapped_file_are_all_named_and_the_one_that_wrote_it_comes_first(tmp_path: Path) -> None:
    def job(number: int, line: int) -> Job:
        one, two = (
            a_process(
                pid, rank=pid, signal=number, at_s=4.0 - pid, fault=fault("Bus error", f"{tmp_path}/tune.py:{at}")
            )
            for pid, at in ((1, 2), (2, line))
        )
        text = "step(model)\ntorch.save(model.state_dict(), path)\nstep(model)\nstep(model)\n"
        return a_job(one, two, cwd=tmp_path, files={"tune.py": text})

    found = native_code_crashes.match(job(signal.SIGBUS, 3))
    assert told(found) == ("native-crash", (1, 2), ("tune.py:2", "tune.py:3"))
    assert found is not None
    assert found.finding.fix is not None
    assert found.finding.fix.text.startswith("a file that is mapped")
    assert told(native_code_crashes.match(job(signal.SIGSEGV, 3))) == ("native-crash", (2,), ("tune.py:3",))


def test_terminate_after_the_exit_handlers_is_a_note() -> None:
    one = a_process(
        signal=6, agent=agent(event("exit"), steps=9), stderr="terminate called without an active exception"
    )
    two = a_process(2, rank=1, agent=agent(event("exit"), steps=9))
    found = teardown_aborts.match(a_job(one, two))
    assert found is not None
    assert (found.outcome, found.finding.confidence) == (JobOutcome.OK, "confirmed")


def test_terminate_after_an_exception_is_no_teardown() -> None:
    words = agent(event("exception", "KeyError: 1", "train.py:3"), event("exit"))
    one = a_process(signal=6, agent=words, raised=(raised("KeyError: 1", "train.py:3"),),
                stderr="terminate called without an active exception")  # fmt: skip
    assert teardown_aborts.match(a_job(one)) is None
    assert told(uncaught_exception.match(a_job(one))) == ("python-exception", (0,), ("train.py:3",))


def test_a_kill_for_memory_is_told_with_its_size_and_the_line_that_keeps_objects(tmp_path: Path) -> None:
    code = (
        "def main(model, data):\n    kept = []\n    for x in data:\n        loss = model(x)\n        loss.backward()\n"
    )
    code += "        kept.append(loss)\n"
    one = a_process(signal=9, ended_by="unknown", argv=("python", "train.py"), cwd=str(tmp_path))
    line = "Memory cgroup out of memory: Killed process 100 (python) total-vm:1kB, anon-rss:2097152kB, file-rss:0kB"
    found = killed_by_oom_killer.match(
        a_job(one, cwd=tmp_path, files={"train.py": code}, facts={"kernel_lines": (line,), "oom_kills": 1})
    )
    assert told(found) == ("killed-by-oom-killer", (0,), ("train.py:6",))
    assert found is not None
    assert "at 2 GiB resident" in found.finding.title


def test_a_kill_for_memory_names_the_limit_of_the_dead_process_and_what_only_one_branch_keeps(tmp_path: Path) -> None:
    code = (
        "class Replay:\n    def add(self, x):\n        if self.keep:\n            self.kept = self.kept[-self.keep :]\n"
    )
    code += "            self.kept.append(x)\n            return\n        self.kept.append(x.repeat(9))\n"
    one = a_process(signal=9, ended_by="unknown", argv=("python", "train.py"), cwd=str(tmp_path))
    groups = [{"limit_bytes": 1 << 30, "pids": [7]}, {"limit_bytes": 2 << 30, "pids": [100]}]
    job = {"kernel_lines": ("Killed process 100 (python) total-vm:1kB",), "memory_bytes": 64 << 30}
    extra = {"memory.json": json.dumps({"groups": groups})}
    found = killed_by_oom_killer.match(a_job(one, cwd=tmp_path, files={"train.py": code}, facts=job, extra=extra))
    assert told(found) == ("killed-by-oom-killer", (0,), ("train.py:7",))
    assert found is not None
    assert "the memory of 2 GiB was full" in found.finding.title


def test_a_kill_that_no_counter_knows_is_from_outside() -> None:
    one = a_process(signal=9, ended_by="unknown")
    assert killed_by_oom_killer.match(a_job(one)) is None
    found = killed_from_outside.match(a_job(one))
    assert told(found) == ("killed-externally", (0,), ())
    assert found is not None
    assert found.finding.confidence == "likely"


def test_a_signal_that_batch_systems_send_before_the_end_is_told_with_the_handler_that_lacks() -> None:
    found = killed_from_outside.match(a_job(a_process(signal=10, ended_by="unknown")))
    assert told(found) == ("killed-externally", (0,), ())
    assert found is not None
    assert "a batch system sends it before the time is up" in found.finding.title
    assert found.finding.fix is not None
    assert found.finding.fix.text.startswith("save and stop in a handler of that signal")


def test_a_kill_sent_by_another_rank_is_told_at_its_line() -> None:
    killer = a_process(1, rank=0, code=1, raised=(raised("RuntimeError: Connection closed by peer", "train.py:9"),))
    dead = a_process(2, rank=1, signal=9, ended_by="pid 1")
    sent = SignalSent(at_s=2.5, sender_pid=1, target_pid=2, signal=9, path=frames("watchdog.py:14"))
    found = killed_from_outside.match(a_job(killer, dead, culprits=(dead,), sent=(sent,)))
    assert told(found) == ("killed-externally", (1,), ("watchdog.py:14",))


def test_slurms_time_limit_is_named() -> None:
    text = "slurmstepd: error: *** STEP 7.0 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT ***"
    found = killed_from_outside.match(a_job(a_process(signal=15, ended_by="unknown"), output=text))
    assert found is not None
    assert found.finding.title.endswith("Slurm cancelled the job due to time limit")


@pytest.mark.parametrize(
    ("text", "total", "expected"),
    [
        ("MemoryError", None, ("train.py:5", "train.py:6")),
        ("RuntimeError: DefaultCPUAllocator: can't allocate memory: you tried to allocate 8000 bytes.", 1 << 34,
         ("train.py:6", "train.py:5")),
        ("RuntimeError: DefaultCPUAllocator: can't allocate memory: you tried to allocate 8000000000000 bytes.", 1 << 9,
         ("train.py:5", "train.py:6")),
    ],
)  # fmt: skip
def test_a_small_request_in_vain_points_at_what_keeps_memory(
    text: str, total: int | None, expected: tuple[str, ...], tmp_path: Path
) -> None:
    code = "data = []\nkept = []\nmodel = None\nfor x in data:\n    loss = model(x)\n    kept.append(loss)\n"
    code += "    loss.backward()\n"
    path = f"{tmp_path}/train.py"
    one = a_process(code=1, raised=(raised(text, f"{path}:5"),))
    found = host_memory_runs_out.match(
        a_job(one, cwd=tmp_path, files={"train.py": code}, facts={"memory_bytes": total})
    )
    assert told(found) == ("host-oom", (0,), expected)


def test_gpu_memory_held_by_another_process_is_named() -> None:
    text = (
        "OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 79.10 GiB of "
        "which 1.00 GiB is free. Process 4242 has 70.00 GiB memory in use."
    )
    found = gpu_memory_runs_out.match(a_job(a_process(code=1, raised=(raised(text, "model.py:9"),))))
    assert told(found) == ("cuda-oom", (0,), ("model.py:9",))
    assert found is not None
    assert found.finding.fix is not None
    assert found.finding.fix.text == "process 4242 holds 70.00 GiB of the same GPU: end it, or use another GPU"


def test_a_worker_that_left_by_os_exit_is_told_at_that_line() -> None:
    left = agent(event("os._exit", "", "data.py:11", value=3), pid=7)
    worker = a_process(7, part=ProcessRole.DATA_WORKER, parent_pid=1, code=3, agent=left)
    text = "RuntimeError: DataLoader worker (pid(s) 7) exited unexpectedly"
    rank = a_process(1, code=1, raised=(raised(text, "train.py:20"),))
    assert told(data_worker_dies.match(a_job(rank, worker))) == (
        "data-worker-crash", (0,), ("data.py:11", "train.py:20"),
    )  # fmt: skip


def test_a_bus_error_with_little_shared_memory_is_left_to_who_knows_more() -> None:
    worker = a_process(7, part=ProcessRole.DATA_WORKER, parent_pid=1, signal=int(signal.SIGBUS))
    text = "RuntimeError: DataLoader worker (pid 7) is killed by signal: Bus error. "
    rank = a_process(1, code=1, raised=(raised(text, "train.py:20"),))
    assert data_worker_dies.match(a_job(rank, worker, facts={"shm_bytes": 64 << 20})) is None
    assert told(data_worker_dies.match(a_job(rank, worker, facts={"shm_bytes": 8 << 30}))) is not None


@pytest.mark.parametrize(
    "text",
    [
        "ModuleNotFoundError: No module named 'apex'",
        "ImportError: libfoo.so: undefined symbol: _ZN2at4_ops",
        "OSError: libcudart.so.12: cannot open shared object file: No such file or directory",
        "ImportError: cannot import name 'a' from 'b' (most likely due to a circular import)",
    ],
)  # fmt: skip
def test_imports_that_fail_are_told_at_the_users_line(text: str) -> None:
    found = import_fails.match(a_job(a_process(code=1, raised=(raised(text, "train.py:2"),))))
    assert told(found) == ("import-failure", (0,), ("train.py:2",))


def test_a_thread_that_nobody_missed_is_no_cause() -> None:
    thread = raised("ValueError: x", "log.py:4", how=ExceptionSource.THREAD, at_s=1.0)
    fine = a_process(agent=agent(steps=10), raised=(thread,))
    assert thread_dies.match(a_job(fine, code=0)) is None
    other = a_process(code=1, agent=agent(steps=3), raised=(thread, raised("KeyError: 1", "train.py:9")))
    assert thread_dies.match(a_job(other)) is None
    waited = a_process(code=1, agent=agent(steps=3), raised=(thread, raised("_queue.Empty", "train.py:9")))
    assert told(thread_dies.match(a_job(waited))) == ("thread-exception", (0,), ("log.py:4", "train.py:9"))


def test_threads_that_end_alike_one_after_the_other_have_failed_a_job_that_says_success() -> None:
    def ended(*texts: str) -> Job:
        threads = [
            replace(raised(text, "store.py:9", how=ExceptionSource.THREAD, at_s=1.0 + at), thread=70 + at)
            for at, text in enumerate(texts)
        ]
        process = a_process(agent=agent(steps=10), raised=tuple(threads))
        stepped = replace(process.agent, steps=replace(process.agent.steps, last_s=8.0))
        return a_job(replace(process, agent=stepped), code=0)

    assert told(thread_dies.match(ended("OSError: x", "OSError: y"))) == ("thread-exception", (0,), ("store.py:9",))
    assert thread_dies.match(ended("OSError: x")) is None
    assert thread_dies.match(ended("OSError: x", "ValueError: y")) is None


FEED = """\
class Feed:
    def pump(self):
        rows = []
        try:
            for text in self.shard:
                rows.append(encode(text))
                self.slots.put(rows)
        finally:
            self.slots.put(None)
    def take(self):
        return self.slots.get()
def step(feed, rows):
    %s
    return model(x)
"""


@pytest.mark.parametrize(
    ("line", "how", "expected"),
    [
        ("x, y = feed.take()", ExceptionSource.THREAD, True),
        ("x = feed.slots.get(timeout=9)[0]", ExceptionSource.THREAD, True),
        ("x = rows[0] @ table[9]", ExceptionSource.THREAD, False),  # a list of the thread's own has that name, too
        ("x = load('a')", ExceptionSource.THREAD, False),
        ("x, y = feed.take()", ExceptionSource.LOGGED, False),  # its handler hands nothing on
    ],
)
def test_a_rank_that_fails_on_what_its_dead_thread_left_has_its_cause_there(
    line: str, how: ExceptionSource, expected: bool, tmp_path: Path
) -> None:
    file = f"{tmp_path}/feed.py"
    thread = replace(raised("KeyError: 'q'", f"{file}:6", how=how, at_s=1.0), thread=77)
    after = raised("TypeError: cannot unpack non-iterable NoneType object", f"{file}:13")
    process = a_process(code=1, agent=agent(steps=3), raised=(thread, after))
    found = told(thread_dies.match(a_job(process, cwd=tmp_path, files={"feed.py": FEED % line})))
    assert found == (("thread-exception", (0,), ("feed.py:6", "feed.py:13")) if expected else None)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x = feed.slots.get()\n    if x is None: x = load()", False),
        ("x = feed.slots.get()\n    if x is None: return", True),
        ("x = feed.slots.get()\n    if x is not None: y = train(x)", True),
    ],
)
def test_what_a_dead_thread_did_not_hand_over_is_missing_where_nothing_takes_its_place(
    line: str, expected: bool, tmp_path: Path
) -> None:
    file = f"{tmp_path}/feed.py"
    thread = raised("KeyError: 'q'", f"{file}:6", how=ExceptionSource.THREAD)
    process = a_process(agent=agent(steps=9), raised=(thread,))
    job = a_job(process, code=0, cwd=tmp_path, files={"feed.py": FEED % line})
    assert (thread_dies.match(job) is not None) is expected


WRITER = """\
class Writer:
    def drain(self):
        while True:
            item = self.todo.get()
            if item is None:
                return
            save(item)
    def submit(self, item):
        self.todo.put(item)
    def close(self):
        self.todo.put(None)
"""


@pytest.mark.parametrize(
    ("source", "line", "last_s", "expected"),
    [
        (WRITER, 7, 9.0, True),
        (WRITER, 7, 1.0, False),  # no step came after it
        (WRITER.replace("self.todo.put(item)", "self.table[0] = item"), 7, 9.0, False),  # nobody gives it work
        (WRITER.replace("self.todo.get()", "self.todo.get(self.key)"), 7, 9.0, False),  # a table
        (WRITER + "        if not self.thread.is_alive(): self.start()\n", 7, 9.0, False),
    ],
)
def test_what_is_given_to_a_dead_thread_is_lost(
    source: str, line: int, last_s: float, expected: bool, tmp_path: Path
) -> None:
    thread = raised("ValueError: x", f"{tmp_path}/writer.py:{line}", how=ExceptionSource.THREAD)
    process = a_process(agent=agent(steps=9), raised=(thread,))
    told_steps = replace(process.agent, steps=replace(process.agent.steps, last_s=last_s))
    job = a_job(replace(process, agent=told_steps), code=0, cwd=tmp_path, files={"writer.py": source})
    found = thread_dies.match(job)
    assert (told(found) if found is not None else None) == (
        ("thread-exception", (0,), ("writer.py:7",)) if expected else None
    )


TRAINED = "def fit():\n    for x in rows:\n        loss = model(x)\n        loss.backward()\n        optimizer.step()\n"


@pytest.mark.parametrize(
    ("text", "line", "last_s", "expected"),
    [
        ("ValueError: x", 3, 1.0, True),
        ("ValueError: x", 3, 2.5, False),  # it was trained on
        ("Finished", 3, 1.0, False),
        ("ValueError: x", 9, 1.0, False),
    ],
)
def test_a_thread_whose_training_loop_ended_has_failed_the_job(
    text: str, line: int, last_s: float, expected: bool, tmp_path: Path
) -> None:
    thread = raised(text, f"{tmp_path}/fit.py:{line}", how=ExceptionSource.THREAD)
    process = a_process(agent=agent(steps=3), raised=(thread,))
    told_steps = replace(process.agent, steps=replace(process.agent.steps, last_s=last_s))
    job = a_job(replace(process, agent=told_steps), code=0, cwd=tmp_path, files={"fit.py": TRAINED})
    assert (thread_dies.match(job) is not None) is expected


def test_an_exception_that_a_thread_caught_and_answered_with_nothing_is_the_cause_of_what_fails_on_that(
    tmp_path: Path,
) -> None:
    source = FEED.replace("finally:", "except Exception:\n            log.exception('feed')")
    file = f"{tmp_path}/feed.py"
    thread = replace(raised("KeyError: 'q'", f"{file}:6", how=ExceptionSource.LOGGED, at_s=1.0), thread=77)
    after = raised("TypeError: cannot unpack non-iterable NoneType object", f"{file}:14")
    for caught, expected in ((thread, True), (replace(thread, thread=1), False)):  # the main thread's is its pid
        process = a_process(1, code=1, agent=agent(steps=3), raised=(caught, after))
        job = a_job(process, cwd=tmp_path, files={"feed.py": source % "x, y = feed.take()"})
        assert (thread_dies.match(job) is not None) is expected


@pytest.mark.parametrize("ended_by", ["stall-timeout", "interrupt"])
def test_a_rank_that_waits_for_a_dead_thread_hangs_because_of_it(ended_by: str) -> None:
    thread = raised("ValueError: x", "data.py:4", how=ExceptionSource.THREAD, at_s=1.0)
    waiting = a_process(signal=15, ended_by="doctor", agent=agent(steps=3), raised=(thread,))
    job = {"ended_by": ended_by, "stalls": (Stall(began_s=1.5, seen_s=9.0),)}
    found = thread_dies.match(a_job(waiting, culprits=(), facts=job))
    assert told(found) == ("thread-exception", (0,), ("data.py:4",))
    assert found is not None
    assert found.outcome is JobOutcome.HANG


def test_sizes_that_gloo_refuses_are_told_at_both_lines() -> None:
    def call(shape: str, place: str) -> CollectiveCall:
        return CollectiveCall(
            sequence=5, number=11, op="all_reduce", group="0", shape=shape, dtype="float32", root=None,
            path=frames(place), entered_s=1.0, left_s=None,
        )  # fmt: skip

    said = "op.preamble.length <= op.nbytes. 72 vs 8. Is there a distributed collective mismatch in your code?"
    one = a_process(1, rank=0, signal=6, agent=agent(collectives=(call("2", "a.py:3"),)), stderr=said)
    two = a_process(2, rank=1, signal=15, ended_by="launcher", agent=agent(collectives=(call("18", "b.py:8"),)))
    assert told(gloo_sizes_differ.match(a_job(one, two))) == ("collective-mismatch", (0, 1), ("a.py:3", "b.py:8"))


def test_groups_that_ranks_made_one_after_the_other_are_not_compared_where_gloo_refuses_sizes() -> None:
    def made(ranks: str) -> CollectiveCall:
        return CollectiveCall(
            sequence=5, number=0, op="new_group", group="0", shape=f"ranks {ranks}", dtype="", root=None,
            path=frames("mesh.py:24"), entered_s=1.0, left_s=2.0,
        )  # fmt: skip

    said = "op.preamble.length <= op.nbytes. 72 vs 8. Is there a distributed collective mismatch in your code?"
    groups = made("0-1"), made("2-3")
    one = a_process(1, rank=0, signal=6, agent=agent(collectives=groups), stderr=said)
    two = a_process(2, rank=1, signal=15, ended_by="launcher", agent=agent(collectives=groups[:1]))
    found = gloo_sizes_differ.match(a_job(one, two))
    assert found is not None
    assert (found.finding.title, found.finding.confidence) == (
        "Ranks handed 72 against 8 bytes to one collective; gloo aborted rank 0", Confidence.LIKELY,
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "TypeError: cannot pickle '_io.TextIOWrapper' object",  # Python 3.8 to 3.12
        "TypeError: cannot pickle 'TextIOWrapper' instances",  # since 3.13
        "AttributeError: Can't pickle local object 'main.<locals>.seed'",
        "AttributeError: Can't get local object 'main.<locals>.seed'",  # since 3.14
    ],
)
def test_what_cannot_be_pickled_is_told_in_the_words_of_every_python(text: str) -> None:
    spawned = ("/usr/lib/python3.13/multiprocessing/reduction.py:60", "train.py:68")
    found = object_cannot_be_pickled.match(a_job(a_process(code=1, raised=(raised(text, *spawned),))))
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.locations[-1]) == ("pickling-failure", (0,), "train.py:68")


@pytest.mark.parametrize(
    ("line", "purpose"),
    [
        ("dist.all_gather_object(out, hooks)", "send an object to other ranks"),
        ("torch.save(model, path)", "write an object"),
        ("context.Process(target=run).start()", "hand an object to a new process"),
    ],
)
def test_what_an_object_was_to_be_pickled_for_is_told_by_its_call(tmp_path: Path, line: str, purpose: str) -> None:
    error = raised("AttributeError: Can't pickle local object 'make.<locals>.<lambda>'", f"{tmp_path}/sync.py:1")
    job = a_job(a_process(code=1, raised=(error,)), cwd=tmp_path, files={"sync.py": f"{line}\n"})
    found = object_cannot_be_pickled.match(job)
    assert found is not None
    assert found.finding.title == (f"Rank 0 could not {purpose} at sync.py:1: make.<locals>.<lambda> cannot be pickled")


def test_an_exit_with_a_code_is_told_at_its_line() -> None:
    left = agent(event("sys.exit", "", "train.py:30", value=3))
    found = rank_leaves.match(a_job(a_process(code=3, agent=left)))
    assert told(found) == ("python-exception", (0,), ("train.py:30",))


SEEN_WHY = "see why the program leaves at train.py:30; an exception that is let through names its own line"


def test_a_hint_behind_the_error_is_not_told_in_its_place() -> None:
    left = agent(event("sys.exit", "", "train.py:30", value=1))
    said = "reading\nError: cannot write to out: Permission denied\nhint: see who owns it: ls -ld out\n"
    found = rank_leaves.match(a_job(a_process(code=1, agent=left, stderr=said)))
    assert found is not None
    assert found.finding.title.endswith("at train.py:30: Error: cannot write to out: Permission denied")
    plain = rank_leaves.match(a_job(a_process(code=1, agent=left, stderr="reading\nno samples in out\n")))
    assert plain is not None
    assert plain.finding.title.endswith("at train.py:30: no samples in out")


@pytest.mark.parametrize(
    ("code", "said", "remedy"),
    [
        (
            2,
            "usage: t.py [-h] --lr LR\nt.py: error: the following arguments are required: --lr, data",
            "pass --lr, data",
        ),
        (
            2,
            "t.py: error: unrecognized arguments: --lrr=3 7",
            "there is no option --lrr: correct the name, or leave it out",
        ),
        (
            2,
            "t.py: error: unrecognized arguments: 7",
            "nothing takes 7: leave it out, or put the option's name before it",
        ),
        (2, "t.py: error: one of the arguments --a --b is required", "pass one of --a, --b"),
        (2, "t.py: error: argument --lr: expected one argument", "pass a value behind --lr"),
        (
            2,
            "t.py: error: argument --lr: invalid float value: 'x'\n=====\nt.py FAILED",
            "correct --lr: invalid float value: 'x'",
        ),
        (2, "Usage: t.py\n\nError: Missing option '--lr'.", "pass --lr"),
        (2, "Error: Missing argument 'DATA'.", "pass DATA"),
        (
            2,
            "Error: No such option '--lrr'. Did you mean '--lr'?",
            "there is no option --lrr: correct the name, or leave it out (did you mean '--lr'?)",
        ),
        (2, "Error: No such option: --lrr", "there is no option --lrr: correct the name, or leave it out"),
        (
            2,
            "Error: Invalid value for '--lr': 'x' is not a valid float.",
            "correct '--lr': 'x' is not a valid float",
        ),
        (
            2,
            "\u256d\u2500 Error \u2500\u256e\n\u2502 Missing option '--lr'.   \u2502\n\u2570\u2500\u2500\u256f",
            "pass --lr",
        ),
        (1, "t.py: error: the following arguments are required: --lr", SEEN_WHY),
        (2, "data: error: 3 samples are broken", SEEN_WHY),
        (2, "Error: no GPU is free", SEEN_WHY),
    ],
)
def test_a_command_line_that_was_refused_is_told_what_to_pass(code: int, said: str, remedy: str) -> None:
    left = agent(event("sys.exit", "", "train.py:30", value=code))
    found = rank_leaves.match(a_job(a_process(code=code, agent=left, stderr=said)))
    assert found is not None
    assert found.finding.fix is not None
    assert found.finding.fix.text == remedy


@pytest.mark.parametrize(("argv", "is_python"), [(("ls", "/data"), False), ((), False), (("python3.11", "a.py"), True)])
def test_the_code_of_a_program_that_is_not_python_is_no_exception(argv: tuple[str, ...], is_python: bool) -> None:
    helper = a_process(code=2, rank=None, part=ProcessRole.HELPER, argv=argv)
    assert (rank_leaves.match(a_job(helper, culprits=())) is not None) is is_python


def test_healthy_jobs_match_nothing() -> None:
    job = a_job(
        a_process(agent=agent(event("exit"), steps=10)),
        a_process(2, rank=1, agent=agent(event("exit"), steps=10)),
        code=0,
    )
    assert [module.match(job) for module in ALL] == [None] * len(ALL)


def test_a_group_of_exceptions_is_told_by_its_first_member() -> None:
    found = (
        raised("ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)", "gather.py:9", sequence=5),
        raised("ExceptionGroup: inner (1 sub-exception)", "gather.py:8", how=ExceptionSource.CAUGHT, sequence=6),
        raised("ZeroDivisionError: division by zero", "gather.py:6", how=ExceptionSource.CAUGHT, sequence=7),
    )
    told_of = uncaught_exception.match(a_job(a_process(code=1, raised=found)))
    assert told(told_of) == ("python-exception", (0,), ("gather.py:6",))
    assert told_of is not None
    assert "ZeroDivisionError: division by zero" in told_of.finding.title


def test_a_group_of_exceptions_that_only_the_output_tells_of_is_read() -> None:
    text = (
        '  + Exception Group Traceback (most recent call last):\n  |   File "train.py", line 8, in <module>\n'
        "  |     y\n  | ExceptionGroup: two (1 sub-exception)\n  +-+---------------- 1 ----------------\n"
        '    | Traceback (most recent call last):\n    |   File "data.py", line 3, in load\n    |     x\n'
        "    | KeyError: 'nu'\n    +------------------------------------\n"
    )
    found = uncaught_exception.match(a_job(a_process(code=1, stderr=text)))
    assert told(found) == ("python-exception", (0,), ("data.py:3",))


def test_ranks_that_left_by_the_same_line_with_a_text_are_told_there_and_not_at_their_launchers_traceback() -> None:
    launcher = (
        'Traceback (most recent call last):\n  File "/bin/torchrun", line 8, in <module>\n    x\n'
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n====\n"
    )
    left = (event("sys.exit", "str", "settings.py:12", "main.py:11", value=1), event("exit"))
    one = a_process(1, rank=0, code=1, agent=agent(*left))
    two = a_process(2, rank=1, signal=signal.SIGTERM, ended_by="launcher", agent=agent(*left))
    job = a_job(one, two, culprits=(one,), output=f"width 31 is no multiple of depth 4\n{launcher}")
    assert uncaught_exception.match(job) is None
    assert told(rank_leaves.match(job)) == ("python-exception", (0, 1), ("settings.py:12", "main.py:11"))


def _line_of_module(text: str, *places: str) -> ExceptionRecord:
    path = tuple(frame(place, "<module>") for place in places)
    return raised(text, path=path, user_path=path)


@pytest.mark.parametrize(
    "text",
    [
        "AttributeError: module 'numpy' has no attribute 'float_'",
        "AttributeError: `np.float_` was removed in the NumPy 2.0 release. Use `np.float64` instead.",
    ],
)
def test_a_name_that_a_library_does_not_have_while_a_file_is_imported_is_a_failed_import(text: str) -> None:
    error = _line_of_module(text, "net.py:4", "main.py:5")
    assert told(import_fails.match(a_job(a_process(code=1, raised=(error,))))) == (
        "import-failure", (0,), ("net.py:4", "main.py:5"),
    )  # fmt: skip


def test_a_name_that_a_library_does_not_have_is_no_import_later_or_in_the_script_itself() -> None:
    text = "AttributeError: module 'torch.optim' has no attribute 'AdamZ'"
    later = raised(text, "net.py:4", "main.py:5")
    script = _line_of_module(text, "main.py:5")
    assert [import_fails.match(a_job(a_process(code=1, raised=(error,)))) for error in (later, script)] == [None, None]


def test_a_child_that_crashed_while_its_parent_waited_is_the_cause_of_what_the_parent_raised() -> None:
    child = a_process(
        7, rank=None, part=ProcessRole.HELPER, parent_pid=1, signal=signal.SIGSEGV, at_s=1.9,
        fault=fault("Segmentation fault", "scan.py:10"),
    )  # fmt: skip
    for text in ("RuntimeError: the scan failed (-11)", "concurrent.futures.process.BrokenProcessPool: terminated"):
        rank = a_process(1, code=1, raised=(raised(text, "scan.py:18", "main.py:4"),))
        found = native_code_crashes.match(a_job(rank, child))
        assert told(found) == ("native-crash", (0,), ("scan.py:10", "scan.py:18", "main.py:4"))


def test_a_child_that_crashed_before_is_not_the_cause_of_what_has_nothing_to_do_with_it() -> None:
    child = a_process(7, rank=None, part=ProcessRole.HELPER, parent_pid=1, signal=signal.SIGSEGV, at_s=1.0)
    rank = a_process(1, code=1, raised=(raised("KeyError: 'x-110'", "data.py:18"),))
    assert native_code_crashes.match(a_job(rank, child)) is None


def test_a_time_limit_of_the_launch_script_is_told_at_its_line(tmp_path: Path) -> None:
    limit = a_process(
        5, rank=None, part=ProcessRole.SHELL, argv=("timeout", "-k", "5", "2m", "torchrun", "main.py"), code=124
    )
    launcher = a_process(
        6,
        rank=None,
        part=ProcessRole.LAUNCHER,
        parent_pid=5,
        argv=("python", "torchrun", "main.py"),
        signal=15,
        at_s=120.1,
    )
    script = {"run.sh": "set -e\nexport A=1\ntimeout -k 5 2m torchrun main.py\n"}
    job = a_job(limit, launcher, code=124, cwd=tmp_path, files=script, facts={"command": ("bash", "run.sh")})
    found = killed_from_outside.match(job)
    assert told(found) == ("killed-externally", (), ("run.sh:3",))
    assert found is not None
    assert "120 s were over" in found.finding.title


@pytest.mark.parametrize(
    ("line", "number", "lines"),
    [
        ("kill -9 $JOB", signal.SIGKILL, ("run.sh:2",)),
        ("sleep 5; kill -s TERM $JOB", signal.SIGTERM, ("run.sh:2",)),
        ("pkill -f main.py", signal.SIGTERM, ("run.sh:2",)),
        ("kill $JOB", signal.SIGKILL, ()),
        ("trap 'kill $HELPER' EXIT", signal.SIGTERM, ()),
        ("kill -0 $JOB", signal.SIGTERM, ()),
        ("echo 'skill issue'", signal.SIGTERM, ()),
    ],
)
def test_a_kill_in_the_launch_script_is_told_at_its_line(
    tmp_path: Path, line: str, number: signal.Signals, lines: tuple[str, ...]
) -> None:
    script = {"run.sh": f"python main.py &\n{line}\nwait\n"}
    shell = a_process(5, rank=None, part=ProcessRole.SHELL, argv=("bash", "run.sh"), code=128 + number)
    rank = a_process(6, parent_pid=5, signal=number)
    job = a_job(shell, rank, cwd=tmp_path, files=script, facts={"command": ("bash", "run.sh")})
    assert told(killed_from_outside.match(job)) == ("killed-externally", (0,), lines)


def test_a_kill_that_python_ran_as_a_command_is_told_at_the_line_that_ran_it() -> None:
    sender = a_process(5, rank=1, agent=agent(event("child", "pid=9 how=popen | kill -TERM 6", "guard.py:7")))
    rank = a_process(6, rank=0, signal=signal.SIGTERM)
    found = killed_from_outside.match(a_job(sender, rank))
    assert told(found) == ("killed-externally", (0,), ("guard.py:7",))


@pytest.mark.parametrize(
    ("left", "expected"),
    [
        (3, ("data-worker-crash", (0,), ("data.py:14",))),
        (None, None),
    ],
)
def test_a_connection_lost_to_a_worker_that_left_is_told_at_the_line_that_left(
    left: int | None, expected: object
) -> None:
    events = (event("os._exit", "", "data.py:14", value=left),) if left is not None else ()
    worker = a_process(7, part=ProcessRole.DATA_WORKER, parent_pid=1, code=left, at_s=1.5, agent=agent(*events))
    rank = a_process(
        1, code=1, raised=(raised("ConnectionResetError: [Errno 104] Connection reset by peer", "main.py:13"),)
    )
    assert told(data_worker_dies.match(a_job(rank, worker))) == expected


PRINTED = '[rank0]:   File "%s", line 3, in f\n[rank0]: EOFError: %s\n'


@pytest.mark.parametrize(
    ("written", "told_of"),
    [
        ("", True),
        (PRINTED % ("/usr/lib/python3.11/multiprocessing/connection.py", "Ran out of input"), True),
        (PRINTED % ("/job/model.py", "EOF when reading a line"), False),
    ],
)
def test_a_worker_that_ended_well_is_not_why_its_rank_read_past_an_end_of_its_own(written: str, told_of: bool) -> None:
    left = event("os._exit", "", "data.py:14", value=0)
    worker = a_process(7, part=ProcessRole.DATA_WORKER, parent_pid=1, code=0, at_s=1.5, agent=agent(left))
    rank = a_process(1, code=1, stderr=written, raised=(raised("EOFError: EOF", "main.py:13"),))
    assert (data_worker_dies.match(a_job(rank, worker)) is not None) is told_of


def test_a_rank_that_ends_itself_when_its_peer_has_failed_is_no_culprit() -> None:
    failed = a_process(2, rank=1, code=1, at_s=2.0)
    for target, culprits in ((1, [1]), (9, [1, 0])):
        sent = event("kill", f"pid={target} signal=9 how=os.kill", "watch.py:3")
        watching = a_process(1, rank=0, signal=signal.SIGKILL, at_s=3.0, agent=agent(sent, pid=1))
        assert [one.rank for one in blame([failed, watching])[0]] == culprits


LATE = (
    "torch.AcceleratorError: CUDA error: device-side assert triggered\nCUDA kernel errors might be asynchronously "
    "reported at some other API call, so the stacktrace below might be incorrect."
)
KERNEL = "Indexing.cu:1553: indexSelectLargeIndex: block: [4,0,0] Assertion `srcIndex < srcSelectDimSize` failed.\n"


def test_a_failed_kernel_is_told_with_its_assertion_and_the_line_only_as_where_it_was_noticed() -> None:
    late = a_process(code=1, raised=(raised(LATE, "train.py:12"),), stderr=KERNEL)
    found = cuda_kernel_fails.match(a_job(late))
    assert found is not None
    assert told(found) == ("python-exception", (0,), ("train.py:12",))
    assert found.finding.title == (
        "A CUDA kernel failed on rank 0 (device-side assert triggered); it was noticed at train.py:12, the kernel was "
        "started there or before; its assertion: srcIndex < srcSelectDimSize"
    )
    assert found.finding.fix.text == (
        "An index is not below the size that it picks from (labels, token ids, gather); "
        "run it once with CUDA_LAUNCH_BLOCKING=1 for the exact line"
    )
    assert found.finding.fix.commands == ("ups-doctor run --backend-debug -- python train.py",)
    assert found.finding.confidence == "likely"
    blocking = a_process(code=1, raised=(raised(LATE.partition("\n")[0], "train.py:9"),), stderr=KERNEL)
    exact = cuda_kernel_fails.match(a_job(blocking))
    assert exact is not None
    assert (exact.finding.confidence, exact.finding.fix.commands) == ("confirmed", ())


@pytest.mark.parametrize("text", ["CUDA error: initialization error", "CUDA error: invalid device ordinal", "no CUDA"])
def test_an_error_that_the_call_itself_tells_is_no_failed_kernel(text: str) -> None:
    told_at_once = a_process(
        code=1, raised=(raised(LATE.replace("CUDA error: device-side assert triggered", text), "a:1"),)
    )
    assert cuda_kernel_fails.match(a_job(told_at_once)) is None


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("signal.setitimer(signal.ITIMER_REAL, seconds)", ("train.py:2",)),
        ("signal.alarm(self.limit)", ("train.py:2",)),
        ("signal.alarm(0)", ()),
        ("signal.setitimer(signal.ITIMER_REAL, 0)", ()),
    ],
)
def test_an_alarm_that_nobody_took_back_is_told_where_it_is_set(
    line: str, lines: tuple[str, ...], tmp_path: Path
) -> None:
    one = a_process(signal=14, argv=("python", "train.py"), cwd=str(tmp_path))
    found = killed_from_outside.match(a_job(one, cwd=tmp_path, files={"train.py": f"import signal\n{line}\n"}))
    assert told(found) == ("killed-externally", (0,), lines)
    assert found is not None
    assert ("from outside" in found.finding.title) is not bool(lines)

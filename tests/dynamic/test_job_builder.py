"""What is made of a record: parts, ranks, ends, who ended whom, who is to blame. Agents' files put together by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hand_made import agent, event

from diagnostics.dynamic.job.evidence import primary_failures
from diagnostics.dynamic.job.job import ExceptionSource, Job, ProcessRole
from diagnostics.dynamic.job.job_builder import JobInputs, build_job
from diagnostics.record.agent_data import AgentData, CollectiveCall, Steps
from diagnostics.record.stacks import FaulthandlerLog, parse_fault_report
from diagnostics.record.supervisor_facts import End, SeenProcess, SentSignal, SupervisorFacts

TORCHRUN = ("python", "/env/bin/torchrun", "--nproc-per-node", "2", "train.py")
TRAIN = ("python", "-u", "train.py")
SPAWNED = ("python", "-c", "from multiprocessing.spawn import spawn_main; spawn_main(7)", "--multiprocessing-fork")
FORKSERVER = ("python", "-c", "from multiprocessing.forkserver import main; main(3, 4)")
TRACKER = ("python", "-c", "from multiprocessing.resource_tracker import main;main(5)")
LOST = "RuntimeError: [pair.cc:553] Connection closed by peer [127.0.0.1]:45744"
SECOND = 10**9


def process(pid: int, *events: Any, parent: int = 1, argv: tuple[str, ...] = TRAIN, **fields: Any) -> AgentData:
    """Returns the file of a process that began `pid` milliseconds after the job."""
    return agent(
        *events, pid=pid, parent_pid=parent, argv=argv, start_ticks=pid, started_ns=SECOND + pid * 10**6, **fields
    )


def launcher(*events: Any) -> AgentData:
    return process(10, *events, argv=TORCHRUN)


def rank(pid: int, number: int, *events: Any, parent: int = 10, restart: int = 0, **fields: Any) -> AgentData:
    variables = {"RANK": str(number), "WORLD_SIZE": "2", "TORCHELASTIC_RESTART_COUNT": str(restart)}
    return process(pid, *events, parent=parent, variables=variables, **fields)


def ended(pid: int, *, code: int | None = None, signal: int | None = None, at_s: float = 5.0) -> SeenProcess:
    """Returns what the kernel told about the end of a process."""
    end = End(exit_code=code, signal=signal, at_s=at_s, source="pidfd")
    return SeenProcess(pid=pid, start_ticks=pid, end=end)


def built(
    *agents: AgentData, ends: tuple[SeenProcess, ...] = (), output: str = "", outputs: dict[str, str] | None = None,
    faults: dict[str, FaulthandlerLog] | None = None, job: dict[str, Any] | None = None,
) -> Job:  # fmt: skip
    facts: dict[str, Any] = {"command": ("torchrun",), "cwd": "/job", "started_ns": SECOND, "exit_code": 1}
    return build_job(
        JobInputs(
            job=SupervisorFacts(**{**facts, "processes": ends, **(job or {})}),
            agents=agents,
            faults=faults or {},
            outputs={"all.txt": output, **(outputs or {})},
        )
    )


def parts(job: Job) -> dict[int, tuple[str, int | None]]:
    return {process.pid: (process.part.value, process.rank) for process in job.processes}


def blamed(job: Job) -> tuple[list[int | None], list[int | None]]:
    return [process.rank for process in job.culprits], [process.rank for process in job.victims]


def test_under_torchrun_the_launcher_its_ranks_and_their_data_workers_are_told_apart() -> None:
    job = built(
        launcher(),
        rank(20, 0, event("dataloader", "DataLoader"), event("process-group", "rank=0 world_size=2 backend=gloo")),
        rank(21, 1, event("process-group", "rank=1 world_size=2 backend=gloo")),
        rank(30, 0, parent=20, forked_from=20),
        process(40, parent=21, argv=("python", "upload.py"), variables={"RANK": "1"}),
    )
    assert parts(job) == {
        10: ("launcher", None), 20: ("rank", 0), 21: ("rank", 1), 30: ("data-worker", 0), 40: ("helper", None),
    }  # fmt: skip
    assert [process.pid for process in job.ranks] == [20, 21]


def test_workers_of_a_fork_server_belong_to_their_rank() -> None:
    job = built(
        launcher(),
        rank(20, 0, event("dataloader", "DataLoader")),
        rank(25, 0, parent=20, argv=FORKSERVER),
        rank(26, 0, parent=20, argv=TRACKER),
        rank(30, 0, parent=25, argv=FORKSERVER, forked_from=25),
    )
    assert parts(job) == {
        10: ("launcher", None), 20: ("rank", 0), 25: ("helper", None), 26: ("helper", None), 30: ("data-worker", 0),
    }  # fmt: skip


def test_a_rank_that_a_script_spawned_and_that_died_early_has_the_number_its_siblings_left() -> None:
    job = built(
        process(10, event("child", "pid=21 how=process | Process-1 torch.multiprocessing.spawn._wrap")),
        process(20, parent=10, argv=TRACKER),
        process(21, event("process-group-begin", "rank=0 world_size=2"), parent=10, argv=SPAWNED),
        process(22, event("exception", "ValueError: bad fold"), parent=10, argv=SPAWNED),
        ends=(ended(21, signal=15), ended(22, code=1)),
    )
    assert parts(job) == {10: ("launcher", None), 20: ("helper", None), 21: ("rank", 0), 22: ("rank", 1)}
    assert blamed(job) == ([1], [0])


def test_the_launchers_of_a_cluster_set_ranks_that_are_not_theirs() -> None:
    node = {"RANK": "0", "WORLD_SIZE": "1"}
    shell = SeenProcess(pid=5, start_ticks=5, argv=("bash", "run.sh"), variables=node)
    job = built(
        process(10, argv=TORCHRUN, variables=node, parent=5),
        rank(20, 0),
        rank(21, 1),
        ends=(shell,),
    )
    assert parts(job) == {5: ("shell", None), 10: ("launcher", None), 20: ("rank", 0), 21: ("rank", 1)}


def test_a_job_of_one_program_is_rank_0_and_what_it_starts_is_not() -> None:
    job = built(
        process(20, event("dataloader", "DataLoader"), event("optimizer", "SGD")),
        process(30, parent=20, forked_from=20),
        process(31, event("exception", "KeyError: 'a'"), parent=20, argv=("python", "upload.py")),
    )
    assert parts(job) == {20: ("rank", 0), 30: ("data-worker", 0), 31: ("helper", None)}


def test_a_program_beside_a_launcher_that_started_no_rank_is_none() -> None:
    assert parts(built(launcher(), process(20, argv=("python", "watch_port.py")))) == {
        10: ("launcher", None), 20: ("helper", None),
    }  # fmt: skip


def test_a_program_that_only_starts_the_rank_is_none() -> None:
    group = [event("process-group", f"rank={number} world_size=2 backend=gloo") for number in (0, 1)]
    job = built(
        launcher(),
        rank(20, 0, argv=("python", "stages.py")),
        rank(21, 1, argv=("python", "stages.py")),
        rank(30, 0, group[0], parent=20),
        rank(31, 1, group[1], parent=21),
    )
    assert parts(job) == {
        10: ("launcher", None), 20: ("launcher", None), 21: ("launcher", None), 30: ("rank", 0), 31: ("rank", 1),
    }  # fmt: skip


def test_a_rank_whose_variables_were_taken_away_is_what_its_launcher_started() -> None:
    seen = (
        SeenProcess(pid=21, start_ticks=21, ppid=10, argv=("python", "train.py"), first_seen_s=1.0),
        SeenProcess(pid=20, start_ticks=20, ppid=15, argv=("python", "train.py"), first_seen_s=1.0),
        SeenProcess(pid=15, start_ticks=15, ppid=10, argv=("bash", "rank.sh"), first_seen_s=0.5),
        SeenProcess(pid=22, start_ticks=22, ppid=10, argv=("python", "-c", "import os"), first_seen_s=1.0),
    )
    assert parts(built(launcher(), ends=seen)) == {
        10: ("launcher", None), 15: ("shell", None), 20: ("rank", 0), 21: ("rank", 1), 22: ("helper", None),
    }  # fmt: skip
    ends = ((1, 20), (0, 21))
    log = "".join(f"rank      : {n} (local_rank: {n})\n  exitcode  : 1 (pid: {pid})\n" for n, pid in ends)
    told = parts(built(launcher(), ends=seen, output=log))
    assert (told[20], told[21]) == (("rank", 1), ("rank", 0))


def test_processes_of_one_target_without_a_group_are_numbered_in_the_order_of_their_start() -> None:
    started = [event("child", f"pid={pid} how=process | Process-{pid} __main__.train") for pid in (20, 21, 22)]
    aside = event("child", "pid=30 how=process | Process-4 __main__.watch")
    job = built(
        process(10, *started, aside, event("sampler", "DistributedSampler"), argv=("python", "main.py")),
        process(20, event("optimizer", "SGD"), parent=10, forked_from=10, steps=Steps(count=3)),
        process(21, event("exception", "KeyError: 'a'"), parent=10, forked_from=10),
        process(22, event("optimizer", "SGD"), parent=10, forked_from=10, steps=Steps(count=3)),
        process(30, parent=10, forked_from=10),
        ends=(ended(21, code=1),),
    )
    assert {pid: told for pid, told in parts(job).items() if pid != 10} == {
        20: ("rank", 0), 21: ("rank", 1), 22: ("rank", 2), 30: ("helper", None),
    }  # fmt: skip
    assert blamed(job) == ([1], [])


def test_what_is_run_one_after_the_other_is_one_rank_and_only_the_same_program_is_a_new_start_of_it() -> None:
    shell = SeenProcess(pid=5, start_ticks=5, argv=("bash", "run.sh"))
    job = built(
        process(100, parent=5, argv=("python", "prepare.py")),
        process(2000, parent=5),
        process(4000, parent=5),
        ends=(shell, ended(100, code=0, at_s=1.0), ended(2000, code=1, at_s=3.0), ended(4000, code=0, at_s=5.0)),
    )
    assert [(one.pid, one.rank, one.restart) for one in job.processes if one.part is ProcessRole.RANK] == [
        (100, 0, 0), (2000, 0, 0), (4000, 0, 1),
    ]  # fmt: skip


def test_a_server_or_a_question_beside_a_program_is_no_rank() -> None:
    job = built(
        process(20, argv=("python", "-m", "http.server", "8000")),
        process(21, argv=("python", "-c", "import socket")),
        process(22, event("exception", "ImportError: no torch")),
        ends=(ended(20, signal=15), ended(22, code=1)),
    )
    assert parts(job) == {20: ("helper", None), 21: ("helper", None), 22: ("rank", 0)}
    assert blamed(job) == ([0], [])


def test_a_question_that_a_script_asked_in_vain_and_a_server_that_it_ended_are_not_to_blame() -> None:
    shell = SeenProcess(pid=5, start_ticks=5, argv=("bash", "run.sh"), end=End(exit_code=1, at_s=9.0))
    job = built(
        process(20, parent=5, argv=("python", "-m", "http.server", "8000")),
        process(21, event("exception", "OSError: refused"), parent=5, argv=("python", "-c", "import socket")),
        process(900, event("exception", "OSError: in use"), parent=5, argv=TORCHRUN),
        ends=(shell, ended(21, code=1, at_s=0.4), ended(900, code=1, at_s=9.0), ended(20, signal=15, at_s=9.0)),
    )
    assert [one.pid for one in primary_failures(job)] == [900]


def test_after_an_exec_the_last_program_of_a_pid_counts() -> None:
    first = agent(pid=20, start_ticks=20, started_ns=SECOND, argv=("python", "prepare.py"), name="agent-20-20.bin")
    last = agent(
        event("optimizer", "SGD"), pid=20, start_ticks=20, started_ns=SECOND + 10, argv=TRAIN, name="agent-20-20-1.bin"
    )
    job = built(last, first)
    assert [(process.pid, process.argv) for process in job.processes] == [(20, TRAIN)]


def test_a_restart_that_succeeds_blames_nobody() -> None:
    job = built(
        launcher(),
        rank(20, 0),
        rank(21, 1, event("exception", "OSError: nfs")),
        rank(30, 0, restart=1),
        rank(31, 1, restart=1),
        ends=(ended(20, signal=15), ended(21, code=1), ended(30, code=0, at_s=9), ended(31, code=0, at_s=9)),
        job={"exit_code": 0},
    )
    assert blamed(job) == ([], [])
    assert [(process.pid, process.restart) for process in job.ranks] == [(30, 1), (31, 1)]


def test_the_kernels_word_about_an_end_comes_before_the_parents_and_the_launchers_log() -> None:
    log = "rank      : 1 (local_rank: 1)\n  exitcode  : -9 (pid: 21)\n"
    agents = (
        launcher(event("child-end", "pid=21 signal=6", seconds=4.0)),
        rank(20, 0, event("exit", seconds=3.0)),
        rank(21, 1),
    )
    kernel = built(*agents, ends=(ended(21, signal=11),), output=log)
    parent = built(*agents, output=log)
    alone = built(launcher(), *agents[1:], output=log)
    ends = [job.of_rank(1).end for job in (kernel, parent, alone)]  # type: ignore[union-attr]
    assert ends == [
        End(signal=11, at_s=5.0, source="pidfd"),
        End(signal=6, at_s=4.01, source="parent-wait"),
        End(signal=9, source="launcher-log"),
    ]
    assert alone.of_rank(0).end == End(exit_code=0, at_s=3.02, source="agent")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("events", "end"),
    [
        ([event("os._exit", value=3, seconds=2.0)], End(exit_code=3, at_s=2.02, source="agent")),
        ([event("sys.exit", value=4), event("exit", seconds=2.0)], End(exit_code=4, at_s=2.02, source="agent")),
        (
            [event("exception", "ValueError: x"), event("exit", seconds=2.0)],
            End(exit_code=1, at_s=2.02, source="agent"),
        ),
        ([event("phase", "training")], End()),
    ],
)
def test_without_any_other_word_a_process_tells_of_its_own_way_out(events: list[Any], end: End) -> None:
    assert built(rank(20, 0, *events)).of_rank(0).end == end  # type: ignore[union-attr]


def test_a_fault_stack_tells_the_signal_where_nobody_else_does() -> None:
    fault = parse_fault_report(
        "Fatal Python error: Segmentation fault\n\nCurrent thread 0x1 (most recent call first):\n"
        '  File "/job/a.py", line 3 in f\n'
    )
    assert fault is not None
    job = built(rank(20, 0, event("phase", "x")), faults={"agent-20-1.bin": fault})
    process = job.ranks[0]
    assert (process.end.signal, process.end.source, process.ended_by) == (11, "agent", "")
    assert process.death is not None
    assert process.death.location == "/job/a.py:3"


def test_who_ended_a_process_is_told_by_who_sent_the_signal() -> None:
    job = built(
        launcher(event("kill", "pid=-20 signal=15 how=os.killpg", seconds=4.9)),
        rank(20, 0),
        rank(21, 1, event("kill", "pid=22 signal=9 how=os.kill", seconds=4.0)),
        rank(22, 2),
        rank(23, 3),
        rank(24, 4, event("kill", "pid=24 signal=9 how=os.kill", seconds=4.0)),
        rank(25, 5),
        ends=(
            ended(20, signal=15), ended(21, code=1, at_s=4.2), ended(22, signal=9, at_s=4.1),
            ended(23, signal=9, at_s=3.0), ended(24, signal=9, at_s=4.1), ended(25, signal=11, at_s=4.5),
        ),
    )  # fmt: skip
    assert {process.rank: process.ended_by for process in job.ranks} == {
        0: "launcher", 1: "", 2: "pid 21", 3: "unknown", 4: "", 5: "",
    }  # fmt: skip


def test_a_launcher_that_picks_one_rank_and_ends_it_before_anything_failed_is_its_sender() -> None:
    def told(*pids: int, code: int | None = None) -> dict[int | None, str]:
        kills = [event("kill", f"pid={pid} signal=9 how=os.kill", seconds=4.0) for pid in pids]
        first = (
            ended(20, code=code, at_s=3.9) if code is not None else ended(20, signal=9 if 20 in pids else 15, at_s=4.4)
        )
        job = built(launcher(*kills), rank(20, 0), rank(21, 1), ends=(first, ended(21, signal=9, at_s=4.1)))
        return {process.rank: process.ended_by for process in job.ranks if process.pid != 20}

    assert told(21) == {1: "pid 10"}  # a guard of its memory
    assert told(20, 21) == {1: "launcher"}  # it ends them all
    assert told(21, code=1) == {1: "launcher"}  # it clears away what a failure left


def test_what_the_doctor_ended_is_nobodys_fault() -> None:
    job = built(
        launcher(),
        rank(20, 0),
        rank(21, 1, event("exception", "KeyboardInterrupt: ", seconds=5.0)),
        ends=(ended(20, signal=2, at_s=5.1), ended(21, code=1, at_s=5.2)),
        job={"ended_by": "interrupt", "sent": (SentSignal(pid=10, signal=2, at_s=5.0, why="interrupt"),)},
    )
    assert {process.ended_by for process in job.ranks} == {"doctor"}
    assert blamed(job) == ([], [])


def test_a_rank_that_only_lost_its_peer_is_a_victim_also_where_it_died_first() -> None:
    job = built(
        launcher(),
        rank(20, 0, event("exception", LOST, seconds=4.0)),
        rank(21, 1, event("exception", "KeyError: 'sample'", seconds=3.9)),
        ends=(ended(20, signal=6, at_s=4.1), ended(21, code=1, at_s=4.6)),
    )
    assert blamed(job) == ([1], [0])


def test_an_exception_that_came_before_the_launchers_signal_counts() -> None:
    job = built(
        launcher(event("kill", "pid=20 signal=15 how=terminate", seconds=4.9)),
        rank(20, 0, event("exception", "KeyError: 'sample'", seconds=4.5)),
        rank(21, 1, event("exception", "KeyError: 'sample'", seconds=4.4)),
        ends=(ended(20, signal=15), ended(21, code=1, at_s=4.8)),
    )
    assert blamed(job) == ([0, 1], [])


def test_a_lost_peer_in_a_clean_up_does_not_hide_what_came_before() -> None:
    stderr = (
        "Traceback (most recent call last):\n"
        '  File "/job/train.py", line 9, in main\n    step()\n'
        "ZeroDivisionError: float division by zero\n\n"
        "During handling of the above exception, another exception occurred:\n\n"
        "Traceback (most recent call last):\n"
        '  File "/job/train.py", line 12, in main\n    dist.barrier()\n'
        f"{LOST}\n"
    )
    job = built(
        launcher(),
        rank(20, 0, event("exception", LOST, seconds=4.0)),
        rank(21, 1, event("exception", LOST, seconds=4.0)),
        ends=(ended(20, code=1), ended(21, code=1)),
        outputs={"21-21.stderr.txt": stderr},
    )
    assert blamed(job) == ([1], [0])
    told = [(one.how, one.type, one.user_path[:1]) for one in job.culprits[0].raised]
    assert [(how, kind) for how, kind, _ in told] == [
        (ExceptionSource.OUTPUT, "ZeroDivisionError"), (ExceptionSource.UNCAUGHT, "RuntimeError"),
    ]  # fmt: skip


def test_a_rank_that_ended_well_before_the_others_lost_it_is_the_culprit() -> None:
    job = built(
        launcher(),
        rank(20, 0, event("exception", LOST, seconds=6.0)),
        rank(21, 1, event("exit", seconds=4.0)),
        ends=(ended(20, code=1, at_s=6.2), ended(21, code=0, at_s=4.2)),
    )
    assert blamed(job) == ([1], [0])


def test_a_refused_connection_of_something_else_is_the_ranks_own_failure() -> None:
    job = built(
        launcher(),
        rank(20, 0, event("exception", LOST, seconds=4.0)),
        rank(21, 1, event("exception", "ConnectionRefusedError: [Errno 111] Connection refused", seconds=3.0)),
        ends=(ended(20, code=1), ended(21, code=1)),
    )
    assert blamed(job) == ([1], [0])


def test_the_rank_that_was_waited_for_in_vain_is_the_culprit() -> None:
    def call(left: float | None) -> CollectiveCall:
        return CollectiveCall(
            sequence=1, number=1, op="all_reduce", group="0", shape="1", dtype="float32", root=None, path=(),
            entered_s=1.0, left_s=left,
        )  # fmt: skip

    timed_out = "RuntimeError: [unbound_buffer.cc:81] Timed out waiting 5000ms for recv operation to complete"
    job = built(
        launcher(event("kill", "pid=21 signal=15 how=terminate", seconds=8.0)),
        rank(20, 0, event("exception", timed_out, seconds=7.0), collectives=(call(7.0),)),
        rank(21, 1, collectives=(call(1.5),)),
        ends=(ended(20, code=1, at_s=7.5), ended(21, signal=15, at_s=8.1)),
    )
    assert blamed(job) == ([1], [0])


def test_where_all_ranks_only_miss_each_other_all_are_named() -> None:
    unreachable = (
        "DistNetworkError: The client socket has timed out after 60000ms while trying to connect to (node0, 29500)."
    )
    job = built(
        launcher(),
        rank(20, 0, event("exception", unreachable)),
        rank(21, 1, event("exception", unreachable)),
        ends=(ended(20, code=1), ended(21, code=1)),
    )
    assert blamed(job) == ([0, 1], [])


def test_a_process_without_an_agent_tells_by_its_traceback() -> None:
    seen = SeenProcess(
        pid=20, start_ticks=20, argv=("python", "-I", "train.py"),
        end=End(exit_code=1, at_s=2.0, source="supervisor-wait"),
    )  # fmt: skip
    text = 'Traceback (most recent call last):\n  File "/job/train.py", line 4, in <module>\n    f()\nValueError: no\n'
    job = built(ends=(seen,), outputs={"20-20.stderr.txt": text})
    process = job.ranks[0]
    assert (process.part, process.rank, process.agent) == (ProcessRole.RANK, 0, None)
    assert [(one.how, one.text) for one in process.raised] == [(ExceptionSource.OUTPUT, "ValueError: no")]


TOLD = 'Traceback (most recent call last):\n  File "/job/train.py", line {}, in <module>\n    f()\n{}\n'
CHAINED = "\nDuring handling of the above exception, another exception occurred:\n\n"


@pytest.mark.parametrize(
    ("output", "told"),
    [
        (TOLD.format(4, "ValueError: a") + TOLD.format(9, "OSError: b"), ["OSError: b", "ValueError: a"]),
        (
            TOLD.format(3, "KeyError: c") + CHAINED + TOLD.format(4, "ValueError: a") + TOLD.format(9, "OSError: b"),
            ["OSError: b", "KeyError: c", "ValueError: a"],
        ),
        (TOLD.format(4, "ValueError: a"), ["ValueError: a", "ValueError: a"]),  # the other one's is cut off, say
        (TOLD.format(4, "A: a") + TOLD.format(9, "B: b") + TOLD.format(5, "C: c"), []),
        ("no traceback\n", []),
    ],
)
def test_ranks_without_agents_that_share_an_output_wrote_their_tracebacks_in_the_order_of_their_ends(
    output: str, told: list[str]
) -> None:
    def seen(pid: int, at_s: float) -> SeenProcess:
        return SeenProcess(
            pid=pid, start_ticks=pid, argv=("python", "train.py"), variables={"RANK": str(pid - 20), "WORLD_SIZE": "2"},
            end=End(exit_code=1, at_s=at_s, source="pidfd"),
        )  # fmt: skip

    job = built(ends=(seen(20, 3.0), seen(21, 2.0)), outputs={"all.txt": output})
    assert [one.text for process in job.ranks for one in process.raised] == told
    whole = built(rank(20, 0), rank(21, 1), ends=(seen(20, 3.0), seen(21, 2.0)), outputs={"all.txt": output})
    assert [one.text for process in whole.ranks for one in process.raised] == []


def test_without_a_supervisors_last_word_the_first_process_tells_how_the_job_ended() -> None:
    agents = (launcher(event("exception", "ChildFailedError: x"), event("exit")), rank(20, 0), rank(21, 1))
    job = built(*agents, job={"exit_code": None})
    assert (job.facts.exit_code, job.facts.ended_by, job.failed) == (1, "unknown", True)

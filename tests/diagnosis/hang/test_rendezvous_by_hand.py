"""Jobs that hang before there is a process group: who has not come, and the line that sets what is wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import hand_made as made
import pytest
from hung_jobs import TORCH, hung, living, say, stack

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.hang import rank_ended_before_its_peers, rendezvous_waits
from diagnostics.diagnosis.launch import rendezvous_incomplete, restart_met_old_addresses
from diagnostics.dynamic.job.job import JobProcess, ProcessRole
from diagnostics.record.agent_data import LifecycleEvent

IN_INIT = (
    f"{TORCH}/distributed/distributed_c10d.py:2169:_new_process_group_helper",
    f"{TORCH}/distributed/distributed_c10d.py:1899:init_process_group",
)


def begun(text: str, place: str = "train.py:3", *, seconds: float = 1.0) -> LifecycleEvent:
    return made.event("process-group-begin", text, place, seconds=seconds)


def asks(pid: int, rank: int, text: str, *, place: str = "train.py:3") -> JobProcess:
    """Returns a rank that waits in init_process_group."""
    file, line = place.split(":")
    return living(pid, rank, stack(*IN_INIT, f"{file}:{line}:<module>"), events=(begun(f"rank={rank} {text}", place),))


def test_a_rank_that_was_never_started_is_the_line_that_sets_the_number(tmp_path: Path) -> None:
    here = "world_size=3 backend=gloo port=29500 address=a"
    job = hung(
        asks(100, 0, here), asks(101, 1, here), tmp_path=tmp_path,
        files={"run.sh": "export WORLD_SIZE=3\nfor RANK in 0 1; do\npython train.py &\ndone\n", "train.py": "\n\nx"},
        job={"command": ("bash", "run.sh")},
    )  # fmt: skip
    found = rendezvous_waits.match(job)
    assert say(found) == ("rendezvous-hang", (2,), ("run.sh:1", "train.py:3"))
    assert found is not None
    assert found.finding.title == "Ranks 0, 1 waited for 3 ranks, but 2 were started: rank 2 never came"
    assert (found.victim_ranks, found.finding.confidence) == ((0, 1), Confidence.CONFIRMED)


LAUNCHER = """import os, subprocess
{made}
for rank in range(2):
    env = dict(os.environ, {given}, RANK=str(rank))
    subprocess.Popen(["python", "train.py"], env=env)
"""


@pytest.mark.parametrize(
    ("made", "given", "first"),
    [
        ("world = training + evaluation", "WORLD_SIZE=str(world)", "launch.py:2"),
        ("world = training + evaluation", 'WORLD_SIZE=f"{world}"', "launch.py:2"),
        ("size = training + evaluation; world = size", "WORLD_SIZE=str(world)", "launch.py:2"),
        ("slots = inventory()", "WORLD_SIZE=str(len(slots))", "launch.py:4"),  # computed where it is set
        ("world = 5", "WORLD_SIZE='3'", "launch.py:4"),
    ],
)
def test_a_number_that_a_launcher_passes_on_is_the_line_that_computes_it(
    made: str, given: str, first: str, tmp_path: Path
) -> None:
    here = "world_size=3 backend=gloo port=29500 address=a"
    job = hung(
        asks(100, 0, here), asks(101, 1, here), tmp_path=tmp_path,
        files={"launch.py": LAUNCHER.format(made=made, given=given), "train.py": "x"},
        job={"command": ("python", "launch.py")},
    )  # fmt: skip
    assert say(rendezvous_waits.match(job))[2][0] == first


def test_a_rank_that_stands_before_it_is_where_it_stands_and_a_guess(tmp_path: Path) -> None:
    here = "world_size=2 backend=gloo port=29500"
    job = hung(
        asks(100, 0, here), living(101, 1, stack("prepare.py:7:wait_for_data", "train.py:2:<module>")),
        tmp_path=tmp_path,
    )  # fmt: skip
    found = rendezvous_waits.match(job)
    assert say(found) == ("rendezvous-hang", (1,), ("prepare.py:7", "train.py:2", "train.py:3"))
    assert found is not None
    assert found.finding.confidence is Confidence.LIKELY


def test_a_rank_that_ended_without_it_is_the_condition_around_the_call(tmp_path: Path) -> None:
    text = "rank = 0\nif rank == 0:\n    dist.init_process_group('gloo')\n"
    job = hung(
        asks(100, 0, "world_size=2 backend=gloo port=29500"), made.a_process(101, rank=1, agent=made.agent(pid=101)),
        tmp_path=tmp_path, files={"train.py": text},
    )  # fmt: skip
    assert say(rendezvous_waits.match(job)) == ("rendezvous-hang", (1,), ("train.py:2", "train.py:3"))


def test_a_rank_that_failed_before_it_is_no_matter_of_the_rendezvous(tmp_path: Path) -> None:
    failed = made.a_process(101, rank=1, code=1, raised=(made.raised("ValueError: no", "train.py:2"),))
    job = hung(asks(100, 0, "world_size=2 backend=gloo port=29500"), failed, tmp_path=tmp_path)
    assert rendezvous_waits.match(job) is None


@pytest.mark.parametrize(
    ("zero", "one", "text", "locations"),
    [
        ("address=a port=29500", "address=a port=29501", "os.environ['MASTER_PORT'] = '29501'", ("main.py:1",)),
        ("address=a port=29500", "address=b port=29500", "os.environ['MASTER_ADDR'] = 'b'", ("main.py:1",)),
        ("| file:///tmp/s0", "| file:///tmp/s1", "STORE = 'file:///tmp/s' + rank", ("main.py:1",)),
    ],
)
def test_ranks_that_meet_at_two_places_are_the_line_that_sets_the_other_one(
    zero: str, one: str, text: str, locations: tuple[str, ...], tmp_path: Path
) -> None:
    job = hung(
        asks(100, 0, f"world_size=2 backend=gloo {zero}", place="main.py:2"),
        asks(101, 1, f"world_size=2 backend=gloo {one}", place="main.py:2"),
        tmp_path=tmp_path, files={"main.py": f"{text}\ndist.init_process_group('gloo')\n"},
    )  # fmt: skip
    assert say(rendezvous_waits.match(job)) == ("rendezvous-hang", (1,), (*locations, "main.py:2"))


def test_a_rank_that_was_told_another_number_is_at_fault_though_its_peer_came_through(tmp_path: Path) -> None:
    through = living(
        100, 0, stack("train.py:4:<module>"),
        events=(begun("rank=0 world_size=2 backend=gloo port=1"), made.event("process-group", "rank=0 world_size=2")),
    )  # fmt: skip
    job = hung(
        through, asks(101, 1, "world_size=3 backend=gloo port=1"), tmp_path=tmp_path,
        files={"run.sh": "RANK=0 WORLD_SIZE=2 python train.py &\nRANK=1 WORLD_SIZE=3 python train.py\n"},
        job={"command": ("bash", "run.sh")},
    )  # fmt: skip
    assert say(rendezvous_waits.match(job))[:2] == ("rendezvous-hang", (1,))
    assert say(rendezvous_waits.match(job))[2][0] == "run.sh:2"


@pytest.mark.parametrize(
    ("options", "ranks"),
    [
        ("--nnodes 2 --node-rank 0 --nproc-per-node 2 --master-addr a", (2, 3)),
        ("--nnodes=2 --nproc-per-node=2 --rdzv-backend=c10d --rdzv-endpoint=a:1", ()),  # numbered when all are there
    ],
)
def test_a_node_that_was_not_started_is_the_line_of_the_launcher(
    options: str, ranks: tuple[int, ...], tmp_path: Path
) -> None:
    waits = (
        f"{TORCH}/distributed/elastic/rendezvous/dynamic_rendezvous.py:1171:DynamicRendezvousHandler.next_rendezvous",
        f"{TORCH}/distributed/elastic/agent/server/api.py:528:SimpleElasticAgent._rendezvous",
    )
    launcher = living(
        10, None, stack(*waits), part=ProcessRole.LAUNCHER, argv=("torchrun", *options.split(), "train.py")
    )
    job = hung(
        launcher, tmp_path=tmp_path, files={"run.sh": f"set -e\ntorchrun {options} train.py\n"},
        job={"command": ("bash", "run.sh")},
    )  # fmt: skip
    assert say(rendezvous_waits.match(job)) == ("rendezvous-hang", ranks, ("run.sh:2",))


def test_all_that_wait_for_a_key_nobody_sets_are_nobodys_fault_for_sure(tmp_path: Path) -> None:
    ranks = [living(100 + rank, rank, stack("train.py:2:<module>")) for rank in (0, 1)]
    job = hung(*ranks, tmp_path=tmp_path, files={"train.py": "store = 1\nstore.wait(['ready'])\n"})
    found = rendezvous_waits.match(job)
    assert say(found) == ("rendezvous-hang", (), ("train.py:2",))
    assert found is not None
    assert found.finding.confidence is Confidence.LIKELY


def test_a_slow_rendezvous_that_came_to_be_is_no_hang(tmp_path: Path) -> None:
    through = made.agent(begun("rank=0 world_size=1"), made.event("process-group", "rank=0 world_size=1"))
    job = made.a_job(made.a_process(100, agent=through), code=0, cwd=tmp_path)
    assert rendezvous_waits.match(job) is None


# Its own timeout fired


def gave_up(pid: int, rank: int, text: str, error: str) -> JobProcess:
    """Returns a rank that left init_process_group with an error."""
    return made.a_process(
        pid, rank=rank, code=1, raised=(made.raised(error, "train.py:3"),),
        agent=made.agent(begun(f"rank={rank} {text}"), pid=pid),
    )  # fmt: skip


def test_of_ranks_that_gave_up_the_one_that_was_told_another_number_is_at_fault(tmp_path: Path) -> None:
    error = "RuntimeError: Gloo connectFullMesh failed with [pair.h:311] Connect timeout [none]"
    job = made.a_job(
        gave_up(100, 0, "world_size=2 port=1", error), gave_up(101, 1, "world_size=3 port=1", error), cwd=tmp_path,
        files={"run.sh": "RANK=0 WORLD_SIZE=2 python train.py &\nRANK=1 WORLD_SIZE=3 python train.py\n"},
        facts={"command": ("bash", "run.sh")},
    )  # fmt: skip
    found = rendezvous_incomplete.match(job)
    assert say(found)[:2] == ("rendezvous-timeout", (1,))
    assert say(found)[2][0] == "run.sh:2"


def test_of_ranks_that_gave_up_at_two_files_the_second_is_at_fault(tmp_path: Path) -> None:
    job = made.a_job(
        gave_up(100, 0, "world_size=2 | file:///tmp/s0", "RuntimeError: Wait timeout"),
        gave_up(101, 1, "world_size=2 | file:///tmp/s1", "RuntimeError: Wait timeout"),
        cwd=tmp_path, files={"train.py": "STORE = 'file:///tmp/s' + rank\n\ndist.init_process_group()\n"},
    )  # fmt: skip
    assert say(rendezvous_incomplete.match(job)) == ("rendezvous-timeout", (1,), ("train.py:1", "train.py:3"))


def test_a_rank_that_left_before_its_peer_gave_up_is_the_line_of_its_exit(tmp_path: Path) -> None:
    error = "torch.distributed.DistStoreError: wait timeout after 9000ms, keys: /default_pg/0//cpu//0/1"
    zero = gave_up(100, 0, "world_size=2 port=1", error)
    left = made.a_process(101, rank=1, agent=made.agent(made.event("sys.exit", "", "check.py:11"), pid=101))
    job = made.a_job(zero, left, cwd=tmp_path, culprits=(left,), victims=(zero,))
    assert say(rendezvous_incomplete.match(job)) == ("rendezvous-timeout", (1,), ("check.py:11", "train.py:3"))
    assert rank_ended_before_its_peers.match(job) is None


@pytest.mark.parametrize(("restart", "met", "told"), [(1, True, True), (0, True, False), (1, False, False)])
def test_ranks_of_a_restart_that_all_came_and_do_not_meet_are_told_with_what_failed_at_first(
    restart: int, met: bool, told: bool, tmp_path: Path
) -> None:
    here = "world_size=2 backend=gloo port=29500 address=a"
    waiting = [replace(asks(200 + rank, rank, here), restart=restart, began_s=9.0) for rank in (0, 1)]
    events = (made.event("process-group", here, "train.py:3"),) if met else ()
    first = made.a_process(
        101, rank=1, code=1, raised=(made.raised("KeyError: 'label'", "data.py:7"),), agent=made.agent(*events, pid=101)
    )
    job = hung(first, *waiting, tmp_path=tmp_path, files={"train.py": "\n\nx", "data.py": "x"})
    found = restart_met_old_addresses.match(replace(job, ranks=tuple(waiting)))
    assert (found is not None) is told
    if found is not None:
        assert say(found) == ("python-exception", (1,), ("data.py:7", "train.py:3"))
        assert (found.outcome, found.finding.confidence) == (JobOutcome.HANG, Confidence.LIKELY)

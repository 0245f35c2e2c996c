"""What the agent records of torch.distributed: which call, by whom, from where, and how far each group got."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from diagnostics.record.agent_data import AgentData, CollectiveCall

# Each program has two ranks, forked from one process that has imported torch for all: `rank_main(rank)` is the program.
RANKS = """
    import json, os, signal, sys
    import torch
    import torch.distributed as dist
    pids = {}
    for name in sorted(os.listdir("programs")):
        sys.path[0] = os.path.join(os.getcwd(), "programs", name)
        for rank in range(2):
            pid = os.fork()
            if not pid:
                store = f"file://{sys.path[0]}/store"
                dist.init_process_group("gloo", init_method=store, rank=rank, world_size=2)
                import program
                program.rank_main(rank)
                dist.destroy_process_group()
                sys.exit(0)
            pids.setdefault(name, []).append(pid)
    def end(pid): return pid, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    ended = {name: [end(pid) for pid in both] for name, both in pids.items()}
    print(json.dumps(ended))
"""
HEAD = "import os, signal, torch\nimport torch.distributed as dist\n# lines of programs count from 4\n"  # three lines


def _files(**programs: str) -> dict[str, str]:
    return {f"programs/{name}/program.py": HEAD + text for name, text in programs.items()}


@pytest.fixture(scope="module")
def ran(watcher, tmp_path_factory):
    """Runs all programs; returns the run and by name what each rank's (pid, exit code) was."""
    texts = {"each_kind": EACH_KIND, "handed_root": HANDED_ROOT, "uneven": UNEVEN, "hung": HUNG, "ddp": DDP}
    texts |= {"long": LONG.replace("DIFFERS_AT", "-1"), "long_differs": LONG.replace("DIFFERS_AT", "1777")}
    done = watcher(tmp_path_factory.mktemp("ranks"), warm=True)(RANKS, files=_files(**texts))
    assert done.returncode == 0, done.stderr
    return done, json.loads(done.stdout)


@pytest.fixture
def ranks(ran):
    """Returns the agents' files of the two ranks of a program."""

    def of(name: str, codes: tuple[int, int] = (0, 0)) -> tuple[AgentData, ...]:
        done, ended = ran
        assert tuple(code for _, code in ended[name]) == codes, done.stderr
        by_pid = {agent.pid: agent for agent in done.record.agents}
        agents = [by_pid[pid] for pid, _ in ended[name]]
        assert [(agent.rank, agent.problems) for agent in agents] == [(0, ()), (1, ())]
        return tuple(replace(agent, collectives=_without_the_end(agent.collectives)) for agent in agents)

    return of


def _without_the_end(calls: tuple[CollectiveCall, ...]) -> tuple[CollectiveCall, ...]:
    return tuple(call for call in calls if call.op != "destroy_process_group")


def _told(call: CollectiveCall) -> tuple[object, ...]:
    line = next(frame.line for frame in call.path if Path(frame.file).name == "program.py")
    return call.op, call.group, call.shape, call.dtype, call.root, line


EACH_KIND = """def rank_main(rank):
    x = torch.ones(2, 3)
    dist.all_reduce(x)
    dist.broadcast(x, src=1)
    dist.all_gather([torch.empty(2, 3), torch.empty(2, 3)], x)
    dist.all_gather_into_tensor(torch.empty(4, 3), x)
    dist.gather(x, [x.clone(), x.clone()] if rank == 0 else None, dst=0)
    dist.scatter(x, [x.clone(), x.clone()] if rank == 1 else None, src=1)
    dist.reduce(x, 1)
    dist.reduce_scatter(torch.empty(3), [x[0].clone(), x[1].clone()])
    dist.reduce_scatter_tensor(torch.empty(1, 3), x)
    dist.all_to_all_single(torch.empty(2, 3), x)
    dist.barrier()
    dist.monitored_barrier()
    found = [None, None]
    dist.all_gather_object(found, rank)
    dist.broadcast_object_list(found, src=1)
    pair = dist.new_group([1, 0])
    dist.all_reduce(tensor=torch.tensor(1, dtype=torch.int64), group=pair)
    dist.send(x, 1) if rank == 0 else dist.recv(x, 0)
    work = dist.all_reduce(x, async_op=True)
    work.wait()
    sent = dist.isend(x, 1) if rank == 0 else dist.irecv(x, 0)
    sent.wait()
    other = dist.P2POp(dist.isend, x, 1) if rank == 0 else dist.P2POp(dist.irecv, x, 0)
    for work in dist.batch_isend_irecv([other]): work.wait()
    from torch.distributed import all_reduce
    all_reduce(x)
    try: dist.all_reduce(x, op="no operation")
    except TypeError: pass
"""


def test_each_kind_of_call_is_recorded_once_with_its_line(ranks):
    one, two = ranks("each_kind")
    x = ("2x3", "float32")
    alike = [
        ("all_reduce", "0", *x, None, 6),
        ("broadcast", "0", *x, 1, 7),
        ("all_gather", "0", *x, None, 8),
        ("all_gather_into_tensor", "0", *x, None, 9),
        ("gather", "0", *x, 0, 10),
        ("scatter", "0", *x, 1, 11),
        ("reduce", "0", *x, 1, 12),
        ("reduce_scatter", "0", "3", "float32", None, 13),
        ("reduce_scatter_tensor", "0", *x, None, 14),
        ("all_to_all_single", "0", *x, None, 15),
        ("barrier", "0", "", "", None, 16),
        ("monitored_barrier", "0", "", "", None, 17),
        ("all_gather_object", "0", "", "", None, 19),
        ("broadcast_object_list", "0", "", "", 1, 20),
        ("new_group", "0", "ranks 1,0", "", None, 21),
        ("all_reduce", "1", "scalar", "int64", None, 22),
    ]
    after = [("all_reduce", "0", *x, None, 31), ("all_reduce", "0", *x, None, 32)]
    for agent, ops, peer in ((one, ("send", "isend"), 1), (two, ("recv", "irecv"), 0)):
        assert [_told(call) for call in agent.collectives] == [
            *alike,
            (ops[0], "0", *x, peer, 23),
            ("all_reduce", "0", *x, None, 24),
            ("wait", "0", *x, None, 25),
            (ops[1], "0", *x, peer, 26),
            ("wait", "0", *x, peer, 27),
            ("batch_isend_irecv", "0", *x, peer, 29),
            ("wait", "0", *x, peer, 29),
            *after,
        ]
        assert [call.op for call in agent.collectives if call.asynchronous] == [
            "all_reduce",
            ops[1],
            "batch_isend_irecv",
        ]
        assert [call.failed for call in agent.collectives] == [False] * 24 + [True]
        assert all(call.left_s is not None and call.left_s >= call.entered_s for call in agent.collectives)
    assert [(group.group, group.ranks, group.calls) for group in one.groups] == [("0", (0, 1), 18), ("1", (0, 1), 1)]
    assert [group.rolling_hash for group in one.groups] == [group.rolling_hash for group in two.groups]
    numbers = [call.number for call in one.collectives if call.group == "0" and call.op == "all_reduce"]
    assert numbers == sorted(set(numbers)) or len(numbers) - len(set(numbers)) == 1  # the failed one moved nothing


HANDED_ROOT = """def rank_main(rank):
    alone = dist.new_group([rank], use_local_synchronization=True)
    dist.broadcast(torch.ones(1), group_src=0, group=alone)
    dist.broadcast(torch.ones(1), rank, alone)
"""


def test_a_root_within_a_group_is_told_as_a_global_rank(ranks):
    for rank, agent in enumerate(ranks("handed_root")):
        assert [(call.op, call.root) for call in agent.collectives[1:]] == [("broadcast", rank), ("broadcast", rank)]


LONG = """def rank_main(rank):
    for step in range(3000):
        odd = rank == 1 and step == DIFFERS_AT
        dist.broadcast(torch.ones(2, dtype=torch.int32 if odd else torch.float32), src=0)
"""


def test_the_first_difference_is_found_long_after_the_ring_went_round(ranks):
    one, two = ranks("long_differs")
    assert len(one.collectives) == 1023  # and the end of the group
    assert one.groups[0].calls == two.groups[0].calls == 3000
    assert one.groups[0].rolling_hash != two.groups[0].rolling_hash
    alike = [mine == other for mine, other in zip(one.groups[0].checkpoints, two.groups[0].checkpoints, strict=True)]
    assert alike == [True] * (1777 // 64) + [False] * (3000 // 64 - 1777 // 64)
    assert one.groups[0].checkpoints[0][0] == 64


def test_ranks_that_do_the_same_have_the_same_checkpoints(ranks):
    one, two = ranks("long")
    assert one.groups == two.groups


UNEVEN = """def rank_main(rank):
    x = torch.ones(2 + 2 * rank)
    dist.all_to_all_single(torch.empty(3 + 0 * rank), x, [1, 2] if rank else [1, 2], [rank + 1, rank + 1])
    if rank == 0: dist.send(torch.ones(7), 1)
    else: dist.recv(torch.ones(7), 0)
    dist.all_gather_object([None, None], "x" * 1000 * rank)
    alone = dist.new_group([rank], use_local_synchronization=True)
    dist.all_reduce(torch.ones(rank + 1), group=alone)
"""


def test_what_may_differ_between_ranks_does_not_change_the_hash(ranks):
    one, two = ranks("uneven")
    assert one.groups[0] == two.groups[0]
    assert (one.groups[1].ranks, two.groups[1].ranks) == ((0,), (1,))


HUNG = """def join(x):
    dist.all_reduce(x)
def rank_main(rank):
    if rank == 0:
        dist.barrier()
        signal.setitimer(signal.ITIMER_REAL, 1)  # dies of SIGALRM while it waits
        join(torch.ones(8))
    dist.barrier()
    try: dist.recv(torch.ones(1), 0)
    except RuntimeError: os._exit(0)  # the other rank is dead
"""


def test_a_rank_that_dies_in_a_collective_left_where_it_was(ranks):
    one, two = ranks("hung", codes=(-14, 0))
    barrier, stuck = one.collectives
    assert (barrier.op, barrier.left_s is not None) == ("barrier", True)
    assert (stuck.op, stuck.shape, stuck.left_s, stuck.thread) == ("all_reduce", "8", None, one.pid)
    assert [(frame.function, frame.line) for frame in stuck.path][:2] == [("join", 5), ("rank_main", 10)]
    assert [(call.op, call.failed) for call in two.collectives] == [("barrier", False), ("recv", True)]


DDP = """def rank_main(rank):
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(4):
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()
    dist.barrier()
"""


def test_the_groups_own_counter_shows_what_ddp_called_in_cpp(ranks):
    for agent in ranks("ddp"):
        (barrier,) = agent.collectives
        assert barrier.number >= 4
        assert agent.steps.group_number == barrier.number
        assert (agent.steps.count, agent.steps.backwards, agent.steps.in_backward) == (4, 4, False)


TRACED = """
    import os, torch
    import torch.distributed as dist
    from torch._dynamo.utils import counters
    dist.init_process_group("gloo", init_method=f"file://{os.getcwd()}/store", rank=0, world_size=1)

    def reduced(x):
        x = x + 1
        dist.all_reduce(x)
        return x * 2

    def broken(x):
        x = x + 1
        dist.barrier()
        return x * 2

    def waited(x):
        x = x + 1
        dist.all_reduce(x, async_op=True).wait()
        return x * 2

    def gathered(x):
        out = torch.empty(2)
        dist.all_gather_into_tensor(out, x)
        return out

    for full in (True, False):
        for function in (reduced, gathered, broken, waited):
            torch._dynamo.reset(); counters.clear()
            try:
                compiled = torch.compile(function, backend="aot_eager", fullgraph=full)
                values = [compiled(torch.ones(2)).tolist() for _ in range(3)]
            except Exception as error:
                values = type(error).__name__
            print(full, function.__name__, values, dict(counters["stats"]), len(counters["graph_break"]))
    dist.destroy_process_group()
"""


def test_torch_compile_traces_collectives_as_before(watch, watch_warm):
    bare = watch_warm(TRACED, watched=False)
    (bare.script.parent / "store").unlink()
    watched = watch(TRACED)
    assert (watched.returncode, watched.stdout, watched.stderr) == (0, bare.stdout, bare.stderr)
    assert "True reduced [[4.0, 4.0], [4.0, 4.0], [4.0, 4.0]]" in bare.stdout
    agent = watched.record.agents[0]
    assert [call.op for call in agent.collectives].count("barrier") == 3  # those that ran outside of a graph


TRAINED = """def rank_main(rank):
    torch.manual_seed(rank)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 1)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for step in range(5):
        loss = model(torch.randn(4, 8)).pow(2).mean()
        optimizer.zero_grad(); loss.backward(); optimizer.step()
        total = loss.detach().clone()
        dist.all_reduce(total, async_op=True).wait()
        dist.barrier()
    with open(f"rank{rank}", "w") as file:
        file.write(" ".join([total.item().hex(), *(p.double().sum().item().hex() for p in model.parameters())]))
"""


def test_ddp_gets_the_same_numbers_bit_for_bit(watch_warm):
    numbers = []
    for watched in (False, True):
        run = watch_warm(RANKS, files=_files(trained=TRAINED), watched=watched)
        assert (run.returncode, [code for _, code in json.loads(run.stdout)["trained"]]) == (0, [0, 0]), run.stderr
        numbers.append([(run.script.parent / f"rank{rank}").read_text() for rank in range(2)])
        (run.script.parent / "programs/trained/store").unlink(missing_ok=True)
    assert numbers[0] == numbers[1]


ENDS = """
    import datetime, torch
    import torch.distributed as dist
    dist.init_process_group("gloo", init_method="tcp://127.0.0.1:0?token=abc", rank=0, world_size=1)
    store = dist.PrefixStore("mine", dist.HashStore())
    store.set("password=hunter2", "1")
    for _ in range(2000):
        store.get("password=hunter2")
    dist.all_reduce(torch.ones(2))
    try:
        store.wait(["one", "two"], datetime.timedelta(milliseconds=20))
    except RuntimeError:
        pass
    dist.destroy_process_group()
"""


def test_waits_for_keys_of_a_store_and_the_end_of_the_group_are_recorded_and_push_nothing_out(watch_warm):
    done = watch_warm(ENDS)
    (agent,) = (agent for agent in done.record.agents if agent.rank == 0)
    assert done.returncode == 0, done.stderr
    assert [
        (call.op, call.shape, call.path[0].line, call.left_s is None, call.failed) for call in agent.collectives
    ] == [
        ("store.get", "password=[redacted]", 8, False, False),
        ("all_reduce", "2", 9, False, False),
        ("store.wait", "one two", 11, False, True),
        ("destroy_process_group", "", 14, False, False),
    ]
    assert [(group.group, group.calls) for group in agent.groups] == [("0", 1)]
    begin, made = (event.text for event in agent.events if event.kind in ("process-group-begin", "process-group"))
    assert begin == "rank=0 world_size=1 backend=gloo port=0 address=127.0.0.1 | tcp://127.0.0.1:0?token=[redacted]"
    assert made == "rank=0 world_size=1 backend=gloo timeout_s=1800"


SPLIT = """
    import torch
    import torch.distributed as dist
    dist.init_process_group("gloo", init_method="tcp://127.0.0.1:0", rank=0, world_size=1)
    cpu = torch.device("cpu", 0)  # torch asks for an accelerator; the rest of it gloo can do as well
    torch.accelerator.is_available = lambda: True
    torch.accelerator.current_accelerator = lambda *args, **kwargs: cpu
    dist.group.WORLD.bound_device_id, options = cpu, dist.group.WORLD._get_backend(cpu).options
    dist.all_reduce(torch.ones(2))
    part = dist.split_group(None, [[0]], pg_options=options)
    dist.all_reduce(torch.ones(2))
    inner = dist.split_group(parent_pg=part, split_ranks=[[0]], pg_options=options)
    dist.barrier(part)
    dist.barrier(inner)
    dist.barrier()
"""


def test_a_split_which_no_backend_counts_has_a_number_of_its_own_in_the_parent(watch_warm):
    done = watch_warm(SPLIT)
    (agent,) = (agent for agent in done.record.agents if agent.rank == 0)
    assert done.returncode == 0, done.stderr
    order = [group.group for group in agent.groups]  # the name of a part is a hash
    assert [(call.op, order.index(call.group), call.number) for call in agent.collectives] == [
        ("all_reduce", 0, 0),
        ("split_group", 0, 1),
        ("all_reduce", 0, 2),
        ("split_group", 1, 0),
        ("barrier", 1, 1),
        ("barrier", 2, 0),
        ("barrier", 0, 3),
    ]
    assert [(group.calls, group.uneven) for group in agent.groups] == [(4, -1), (2, -1), (1, 0)]


MESH = """
    import os
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh
    os.environ.update(RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT="0", UPS_DOCTOR_FLIGHT="1")
    init_device_mesh("cpu", (1, 1), mesh_dim_names=("rows", "columns"))
    print([name.split("-")[0] for name in os.listdir(os.environ["UPS_DOCTOR_DIR"]) if name.endswith(".fifo")])
    dist.destroy_process_group()
"""


def test_a_default_group_that_a_device_mesh_makes_is_recorded_and_can_be_asked(watch_warm):
    done = watch_warm(MESH)
    assert (done.returncode, done.stdout) == (0, "['flight']\n"), done.stderr
    (made,) = (event for agent in done.record.agents if (event := agent.last_event("process-group")) is not None)
    assert made.text.startswith("rank=0 world_size=1 backend=")

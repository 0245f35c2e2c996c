"""Launch and environment: the texts torch, gloo and shells write, and the line of the script that is to blame."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import hand_made as made
import pytest

from diagnostics.diagnosis.launch import (
    access_refused,
    backend_missing,
    descriptors_exhausted,
    disk_filled,
    environment_lost,
    launcher_in_a_rank,
    launcher_not_found,
    master_out_of_reach,
    port_taken,
    rendezvous_incomplete,
    shared_memory_exhausted,
    started_without_launcher,
    versions_disagree,
    wrong_device,
)
from diagnostics.diagnosis.signature import Match
from diagnostics.dynamic.job.job import Job, JobProcess, ProcessRole
from diagnostics.record.supervisor_facts import DiskState

ALL = (
    access_refused, backend_missing, descriptors_exhausted, disk_filled, environment_lost, launcher_in_a_rank,
    launcher_not_found, master_out_of_reach, port_taken, rendezvous_incomplete, shared_memory_exhausted,
    started_without_launcher, versions_disagree, wrong_device,
)  # fmt: skip
TAKEN = (
    "torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. "
    "port: 29677, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use"
)


def shell(pid: int = 10, *, code: int = 1, script: str = "run.sh") -> JobProcess:
    return made.a_process(pid, rank=None, part=ProcessRole.SHELL, code=code, argv=("bash", script), parent_pid=1)


def failed(text: str, *places: str, pid: int = 100, rank: int | None = 0, **fields: object) -> JobProcess:
    return made.a_process(pid, rank=rank, code=1, raised=(made.raised(text, *places),), **fields)


def say(one: Match | None) -> tuple[str, tuple[int, ...], tuple[str, ...]]:
    assert one is not None
    return one.failure_class, one.culprit_ranks, one.locations


def everyone(job: Job) -> list[str]:
    return [module.CODE for module in ALL if module.match(job) is not None]


def only(module: ModuleType, job: Job) -> Match | None:
    """No other signature of launches may speak of it as well."""
    assert everyone(job) == [module.CODE]
    match: Match | None = module.match(job)
    return match


def test_a_missing_launcher_is_the_line_of_the_script(tmp_path: Path) -> None:
    job = made.a_job(
        shell(code=127), code=127, cwd=tmp_path, files={"run.sh": "set -e\ncd .\ntorchrun train.py\n"},
        output="run.sh: line 3: torchrun: command not found\n",
    )  # fmt: skip
    assert say(only(launcher_not_found, job)) == ("launcher-missing", (), ("run.sh:3",))


@pytest.mark.parametrize(
    ("command", "said", "advice"),
    [
        (("train.py", "--lr", "1"), "train.py: command not found", "start it with Python: ups-doctor run -- python t"),
        (("bash", "run.sh"), "run.sh: line 3: train.py: command not found", "start it with Python: python train.py,"),
        (("trainer",), "trainer: command not found", "activate the environment that has trainer"),
    ],
)  # fmt: skip
def test_a_python_file_in_the_place_of_a_command_is_to_be_started_with_python(
    command: tuple[str, ...], said: str, advice: str
) -> None:
    job = made.a_job(shell(code=127), facts={"command": command, "exit_code": 127}, output=f"{said}\n")
    found = only(launcher_not_found, job)
    assert found is not None
    assert found.finding.fix is not None
    assert found.finding.fix.text.startswith(advice)


def test_a_folder_in_the_place_of_a_command_is_said_to_be_one(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    told = [
        only(launcher_not_found, made.a_job(shell(code=127), cwd=tmp_path, output=f"{name}: command not found\n",
                                            facts={"command": (name,), "exit_code": 127}))
        for name in ("src", "absent")
    ]  # fmt: skip
    assert [match is not None and match.finding.title for match in told] == [
        "src is a folder, which is no command: src: command not found",
        "The command absent does not exist in the environment of this job: absent: command not found",
    ]


def test_a_launcher_that_a_makefile_calls_is_the_line_of_its_recipe(tmp_path: Path) -> None:
    job = made.a_job(
        made.a_process(10, rank=None, part=ProcessRole.SHELL, code=2, argv=("make", "train"), parent_pid=1),
        cwd=tmp_path,
        facts={"command": ("make", "train"), "exit_code": 127}, files={"Makefile": "train:\n\tdeepspeed train.py\n"},
        output="make: deepspeed: No such file or directory\nmake: *** [Makefile:2: train] Error 127\n",
    )  # fmt: skip
    assert say(only(launcher_not_found, job)) == ("launcher-missing", (), ("Makefile:2",))
    variable = made.a_job(
        facts={"command": ("make", "train"), "exit_code": 127}, cwd=tmp_path,
        files={"Makefile": "RUN = deepspeed\ntrain:\n\t$(RUN) train.py\n"},
        output="make: deepspeed: No such file or directory\nmake: *** [Makefile:3: train] Error 127\n",
    )  # fmt: skip
    assert say(launcher_not_found.match(variable)) == ("launcher-missing", (), ("Makefile:3", "Makefile:1"))


@pytest.mark.parametrize(
    "text",
    [
        "run.sh: line 2: ./go.py: cannot execute: required file not found",
        "run.sh: line 2: ./go.py: /opt/old/bin/python: bad interpreter: No such file or directory",
    ],
)
def test_a_program_whose_interpreter_is_gone_is_its_first_line_and_the_line_that_starts_it(
    tmp_path: Path, text: str
) -> None:
    files = {"run.sh": "set -e\n./go.py\n", "go.py": "#!/opt/old/bin/python\nimport torch\n"}
    job = made.a_job(shell(code=127), code=127, cwd=tmp_path, files=files, output=f"{text}\n")
    assert say(only(launcher_not_found, job)) == ("launcher-missing", (), ("go.py:1", "run.sh:2"))


def test_a_launcher_that_a_python_script_starts_in_vain_is_the_scripts_line(tmp_path: Path) -> None:
    text = "FileNotFoundError: [Errno 2] No such file or directory: 'mpirun'"
    assert say(only(launcher_not_found, made.a_job(failed(text, "submit.py:8")))) == (
        "launcher-missing", (), ("submit.py:8",),
    )  # fmt: skip
    (tmp_path / "go.py").write_text('os.execvp("torchrun", ["torchrun", *sys.argv])\nos.listdir("x")\n')
    unnamed = "FileNotFoundError: [Errno 2] No such file or directory"
    replaced = made.a_job(failed(unnamed, f"{tmp_path}/go.py:1"), cwd=tmp_path)
    assert say(only(launcher_not_found, replaced)) == ("launcher-missing", (), ("go.py:1",))
    assert everyone(made.a_job(failed(unnamed, f"{tmp_path}/go.py:2"), cwd=tmp_path)) == []
    data = "FileNotFoundError: [Errno 2] No such file or directory: 'data/train.bin'"
    assert everyone(made.a_job(failed(data, "train.py:8"))) == []


def test_a_command_that_was_missing_and_not_needed_is_no_cause() -> None:
    worked = made.agent(steps=40)
    job = made.a_job(
        shell(), failed("ValueError: x", "train.py:3", agent=worked),
        output="run.sh: line 1: module: command not found\nrun.sh: line 2: accelerate: command not found\n",
    )  # fmt: skip
    assert everyone(job) == []


def test_a_mistyped_script_is_the_line_that_names_it(tmp_path: Path) -> None:
    text = f"python: can't open file '{tmp_path}/trian.py': [Errno 2] No such file or directory"
    job = made.a_job(
        shell(), made.a_process(rank=0, code=2, stderr=text), made.a_process(101, rank=1, code=2, stderr=text),
        cwd=tmp_path,
        files={"run.sh": "#!/bin/bash\n# trian.py\ntorchrun --nproc-per-node 2 trian.py\n"},
    )  # fmt: skip
    assert say(only(launcher_not_found, job)) == ("launcher-missing", (), ("run.sh:3",))


def test_a_variable_set_without_export_is_the_line_that_sets_it(tmp_path: Path) -> None:
    job = made.a_job(
        shell(), failed("KeyError: 'DATA_ROOT'", "train.py:2"), cwd=tmp_path,
        files={"run.sh": "DATA_ROOT=/data\ntorchrun train.py\n", "train.py": '\nroot = os.environ["DATA_ROOT"]\n'},
    )  # fmt: skip
    assert say(only(environment_lost, job)) == ("env-not-propagated", (0,), ("run.sh:1", "train.py:2"))


def test_a_program_without_its_launcher_is_the_line_that_starts_it(tmp_path: Path) -> None:
    files = {"run.sh": "set -e\npython train.py\n", "train.py": 'rank = os.environ["LOCAL_RANK"]\n'}
    job = made.a_job(shell(), failed("KeyError: 'LOCAL_RANK'", "train.py:1", rank=None), cwd=tmp_path, files=files)
    assert say(only(started_without_launcher, job)) == ("launcher-missing", (), ("run.sh:2", "train.py:1"))


def test_a_key_of_a_dictionary_is_no_variable(tmp_path: Path) -> None:
    job = made.a_job(
        failed("KeyError: 'RANK'", "train.py:1"), cwd=tmp_path, files={"train.py": 'value = table["RANK"]\n'}
    )
    assert everyone(job) == []


def test_sudo_that_drops_variables_is_named(tmp_path: Path) -> None:
    text = "ValueError: Error initializing using env:// rendezvous: environment variable RANK expected, but not set"
    job = made.a_job(
        shell(), failed(text, "train.py:1", rank=None), cwd=tmp_path,
        files={"run.sh": "export RANK=0\nsudo -u trainer python train.py\n", "train.py": "dist.init_process_group()\n"},
    )  # fmt: skip
    assert say(only(environment_lost, job)) == ("env-not-propagated", (), ("run.sh:2", "train.py:1"))


def test_a_port_is_named_with_the_line_that_sets_it(tmp_path: Path) -> None:
    files = {"train.py": 'import os\nos.environ["MASTER_PORT"] = "29677"\ninit_process_group("gloo")\n'}
    job = made.a_job(failed(TAKEN, "train.py:3"), cwd=tmp_path, files=files)
    found = only(port_taken, job)
    assert say(found) == ("port-in-use", (0,), ("train.py:2", "train.py:3"))
    assert found is not None
    assert found.finding.title == "Rank 0 could not listen on port 29677: it is in use by another process"


def test_a_port_that_the_job_itself_listens_on_is_named_with_the_line_that_listens(tmp_path: Path) -> None:
    def found(port: int, seconds: float) -> Match | None:
        listens = made.agent(made.event("listen", f"port={port}", "status.py:22", "train.py:2", seconds=seconds))
        return only(port_taken, made.a_job(failed(TAKEN, "train.py:3", agent=listens), cwd=tmp_path))

    own = found(29677, 0.5)
    assert say(own) == ("port-in-use", (0,), ("status.py:22", "train.py:2", "train.py:3"))
    assert own is not None
    assert own.finding.title == ("Rank 0 could not listen on port 29677: it listens there already at status.py:22")
    assert say(found(4242, 0.5)) == say(found(29677, 900.0)) == ("port-in-use", (0,), ("train.py:3",))


def test_a_port_that_was_taken_and_then_another_one_used_is_no_cause() -> None:
    tried = made.raised(
        "OSError: [Errno 98] Address already in use", "train.py:9", how=made.ExceptionSource.CAUGHT, at_s=0.5
    )
    died = made.raised("ValueError: bad batch", "train.py:40")
    job = made.a_job(made.a_process(code=1, raised=(tried, died), stderr=f"{tried.text}, trying the next port\n"))
    assert everyone(job) == []


def test_a_launch_that_was_repeated_at_the_next_port_is_no_cause() -> None:
    launch = ("torchrun", "train.py")
    first = failed(TAKEN, pid=10, rank=None, part=ProcessRole.LAUNCHER, argv=launch, at_s=2.0)
    second = made.a_process(20, rank=None, part=ProcessRole.LAUNCHER, argv=launch, began_s=3.0, at_s=9.0)
    assert everyone(made.a_job(shell(), first, second)) == []
    assert everyone(made.a_job(shell(), first)) == ["D104"]


def test_ranks_that_ask_different_ports_wait_in_vain_for_each_other(tmp_path: Path) -> None:
    text = "torch.distributed.DistStoreError: Timed out after 9 seconds waiting for clients. 1/2 clients joined."
    zero = made.agent(made.event("process-group-begin", "rank=0 world_size=2 backend=gloo port=29881", "main.py:7"))
    one = made.agent(made.event("process-group-begin", "rank=1 world_size=2 backend=gloo port=29882", "main.py:7"))
    waits = failed(text, "main.py:7", agent=zero)
    ended = made.a_process(101, rank=1, signal=15, ended_by="launcher", agent=one)
    found = only(master_out_of_reach, made.a_job(waits, ended, culprits=(waits,), cwd=tmp_path))
    assert say(found) == ("master-unreachable", (1,), ("main.py:7",))
    assert found is not None
    assert found.finding.title == "Rank 1 looked for the store at port 29882, and rank 0 serves it at port 29881"


def test_a_rank_that_never_started_is_the_culprit(tmp_path: Path) -> None:
    text = "torch.distributed.DistStoreError: Timed out after 7 seconds waiting for clients. 1/2 clients joined."
    files = {"run.sh": "export WORLD_SIZE=2\nRANK=0 python train.py\n", "train.py": "init_process_group()\n"}
    job = made.a_job(shell(), failed(text, "train.py:1"), cwd=tmp_path, files=files)
    assert say(only(rendezvous_incomplete, job)) == ("rendezvous-timeout", (1,), ("run.sh:1", "train.py:1"))


def test_a_rank_that_lost_the_store_of_one_that_gave_up_had_come_as_well(tmp_path: Path) -> None:
    text = "torch.distributed.DistStoreError: Timed out after 7 seconds waiting for clients. 2/3 clients joined."
    lost = "torch.distributed.DistNetworkError: failed to recv, got 0 bytes. Connection was likely closed."
    files = {"run.sh": "export WORLD_SIZE=3\npython train.py\n", "train.py": "init_process_group()\n"}

    def found(said: str) -> Match | None:
        other = failed(said, "train.py:1", pid=101, rank=1)
        return rendezvous_incomplete.match(
            made.a_job(shell(), failed(text, "train.py:1"), other, cwd=tmp_path, files=files)
        )

    told = found(lost)
    assert say(told) == ("rendezvous-timeout", (2,), ("run.sh:1", "train.py:1"))
    assert told is not None
    assert told.finding.title == "Rank 0 waited for 3 ranks, but 2 were started: rank 2 never came (2 of 3 joined)"
    assert found("KeyError: 'nu'") is None


def test_an_address_that_nobody_knows_is_the_line_that_sets_it(tmp_path: Path) -> None:
    text = (
        "torch.distributed.DistNetworkError: The client socket has timed out after 6000ms while trying to connect to "
        "(node-0.invalid, 29655)."
    )
    said = "[W] The IPv6 network addresses of (node-0.invalid, 29655) cannot be retrieved (gai error: -2 - Name or)\n"
    files = {"run.sh": "export MASTER_ADDR=node-0.invalid\ntorchrun train.py\n", "train.py": "init_process_group()\n"}
    job = made.a_job(shell(), failed(text, "train.py:1", rank=1), cwd=tmp_path, files=files, output=said)
    found = only(master_out_of_reach, job)
    assert say(found) == ("master-unreachable", (1,), ("run.sh:1", "train.py:1", "run.sh:2"))
    assert found is not None
    assert found.finding.title.endswith("node-0.invalid:29655: no such name is known here")


def test_an_address_where_something_else_answers_is_the_line_that_has_it(tmp_path: Path) -> None:
    text = "DistNetworkError: Ping failed, invalid value returned from server. Expected: 18354, Got: 1347703880"
    argv = ("torchrun", "--nnodes", "2", "--master-addr", "10.255.255.1", "--master-port", "24821", "train.py")
    asks = failed(text, pid=10, rank=None, part=ProcessRole.LAUNCHER, argv=argv)
    files = {"run.sh": "HEAD=10.255.255.1\ntorchrun --nnodes 2 --master-addr $HEAD train.py\n"}
    found = only(master_out_of_reach, made.a_job(shell(), asks, cwd=tmp_path, files=files))
    assert say(found) == ("master-unreachable", (), ("run.sh:1", "run.sh:2"))
    assert found is not None
    assert "10.255.255.1:24821: what answers there is no store of torch's" in found.finding.title


def test_a_store_of_its_own_under_torchrun_is_the_wrong_port() -> None:
    text = (
        "DistNetworkError: The client socket has timed out after 6000ms while trying to connect to (127.0.0.1, 29611)."
    )
    variables = {"TORCHELASTIC_USE_AGENT_STORE": "True", "MASTER_PORT": "41000"}
    found = only(master_out_of_reach, made.a_job(failed(text, "train.py:6", agent=made.agent(variables=variables))))
    assert found is not None
    assert "torchrun serves its own store on port 41000" in found.finding.title


def test_ranks_inside_a_rank_are_one_launch_too_many() -> None:
    outer = made.a_process(10, rank=None, part=ProcessRole.LAUNCHER, code=1, argv=("torchrun", "train.py"))
    started = made.event("child", "pid=200 how=process", "train.py:12")
    rank = made.a_process(
        100, rank=0, code=1, parent_pid=10, agent=made.agent(started, variables={"LOCAL_WORLD_SIZE": "2"})
    )
    group = made.agent(made.event("process-group", "rank=0"), variables={"LOCAL_WORLD_SIZE": "2"})
    inner = [
        made.a_process(pid, rank=0, code=1, parent_pid=100, agent=group, raised=(made.raised(TAKEN, "train.py:5"),))
        for pid in (200, 201)
    ]
    found = only(launcher_in_a_rank, made.a_job(outer, rank, *inner))
    assert say(found) == ("nested-launch", (), ("train.py:12",))


@pytest.mark.parametrize(
    ("text", "backend"),
    [
        ("RuntimeError: Distributed package doesn't have NCCL built in", "nccl"),
        ("ValueError: ProcessGroupNCCL is only supported with GPUs, no GPUs found!", "nccl"),
        ("AssertionError: Unknown backend type nccl2", "nccl2"),
        ("RuntimeError: No backend type associated with device type cpu", "nccl"),
    ],
)
def test_a_backend_that_cannot_be_used_is_named(tmp_path: Path, text: str, backend: str) -> None:
    files = {"train.py": f'dist.init_process_group("{backend}")\n'}
    found = only(backend_missing, made.a_job(failed(text, "train.py:1"), cwd=tmp_path, files=files))
    assert say(found) == ("backend-unavailable", (0,), ("train.py:1",))
    assert found is not None
    assert repr(backend) in found.finding.title


@pytest.mark.parametrize(
    "text",
    [
        "AssertionError: Torch not compiled with CUDA enabled",
        "ValueError: DistributedDataParallel device_ids and output_device arguments only work with single-device/"
        "multiple-device GPU modules or CPU modules, but got device_ids [1], output_device None",
    ],
)
def test_a_device_that_does_not_exist_is_the_users_line(text: str) -> None:
    assert say(only(wrong_device, made.a_job(failed(text, "train.py:7")))) == (
        "device-misassigned",
        (0,),
        ("train.py:7",),
    )


def test_the_old_spelling_of_local_rank_is_a_matter_of_versions(tmp_path: Path) -> None:
    files = {"train.py": 'p = ArgumentParser()\np.add_argument("--local_rank")\np.parse_args()\n'}
    process = made.a_process(code=2, stderr="train.py: error: unrecognized arguments: --local-rank=0\n")
    found = only(versions_disagree, made.a_job(process, cwd=tmp_path, files=files))
    assert say(found) == ("version-skew", (0,), ("train.py:2", "train.py:3"))


@pytest.mark.parametrize("limit", ["64", "${OPEN:-64}", '"$OPEN"'])
def test_descriptors_run_out_where_the_script_lowers_the_limit(tmp_path: Path, limit: str) -> None:
    text = "OSError: [Errno 24] Too many open files: 'a.npy'"
    files = {"run.sh": f"ulimit -n {limit}\ntorchrun train.py\n"}
    found = only(descriptors_exhausted, made.a_job(shell(), failed(text, "data.py:4"), cwd=tmp_path, files=files))
    assert say(found) == ("fd-exhaustion", (0,), ("run.sh:1", "data.py:4"))


def test_half_a_checkpoint_on_a_full_disk_is_a_full_disk() -> None:
    text = "RuntimeError: [enforce fail at inline_container.cc:664] . unexpected pos 576 vs 534"
    disk = DiskState(path="/ckpt", total_bytes=4 << 20, free_bytes=0, least_free_bytes=0)
    found = only(disk_filled, made.a_job(failed(text, "train.py:30"), facts={"disks": (disk,)}))
    assert say(found) == ("disk-full", (0,), ("train.py:30",))
    assert found is not None
    assert found.finding.confidence == "confirmed"


def test_fewer_bytes_written_than_numpy_asked_for_is_a_full_disk() -> None:
    found = only(disk_filled, made.a_job(failed("OSError: 256000 requested and 10208 written", "dump.py:11")))
    assert say(found) == ("disk-full", (0,), ("dump.py:11",))


def test_a_bus_error_with_room_in_shared_memory_is_something_else() -> None:
    disk = DiskState(path="/dev/shm", total_bytes=8 << 30, free_bytes=8 << 30, least_free_bytes=8 << 30)  # noqa: S108
    died = made.a_process(101, rank=0, part=ProcessRole.DATA_WORKER, signal=7)
    text = "RuntimeError: DataLoader worker (pid 101) is killed by signal: Bus error."
    facts = {"disks": (disk,), "shm_bytes": 8 << 30}
    assert everyone(made.a_job(failed(text, "train.py:5"), died, facts=facts)) == []


def test_a_bus_error_with_shared_memory_full_is_shared_memory() -> None:
    disk = DiskState(path="/dev/shm", total_bytes=64 << 20, free_bytes=0, least_free_bytes=0)  # noqa: S108
    died = made.a_process(101, rank=0, part=ProcessRole.DATA_WORKER, signal=7)
    text = "RuntimeError: DataLoader worker (pid 101) is killed by signal: Bus error."
    found = only(
        shared_memory_exhausted,
        made.a_job(failed(text, "train.py:5"), died, facts={"disks": (disk,), "shm_bytes": 64 << 20}),
    )
    assert say(found) == ("shm-exhausted", (0,), ("train.py:5",))


def test_a_folder_of_somebody_else_is_a_matter_of_access() -> None:
    text = "PermissionError: [Errno 13] Permission denied: '/out/last.pt'"
    found = only(access_refused, made.a_job(failed(text, "train.py:8")))
    assert say(found) == ("permission", (0,), ("train.py:8",))


def test_a_launcher_that_is_refused_is_the_line_that_starts_it(tmp_path: Path) -> None:
    text = "PermissionError: [Errno 13] Permission denied: '/opt/env/bin/python'"
    refused = failed(text, pid=10, rank=None, part=ProcessRole.LAUNCHER, argv=("torchrun", "train.py"))
    job = made.a_job(shell(), refused, cwd=tmp_path, files={"run.sh": "set -e\ntorchrun train.py\n"})
    assert say(only(access_refused, job)) == ("permission", (), ("run.sh:2",))


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("./run.sh: Permission denied", "start it through its interpreter: bash ./run.sh; or make it executable"),
        ("./train.py: Permission denied", "start it through its interpreter: python ./train.py; or make it executable"),
        ("/data: Is a directory", "/data is a folder: name the program in it"),
        ("runs/: Permission denied", "runs/ is a folder: name the program in it"),
        (".: Permission denied", ". is a folder: name the program in it"),
        (
            "torchrun: Permission denied",
            "a folder of PATH holds torchrun, or may hold it, and this user may not use it",
        ),
    ],
)
def test_the_remedy_of_a_program_that_may_not_be_run_fits_its_kind(said: str, advice: str) -> None:
    found = only(access_refused, made.a_job(output=said + "\n", facts={"exit_code": 126}))
    assert found.finding.fix is not None
    assert found.finding.fix.text.startswith(advice)


@pytest.mark.parametrize(
    "text",
    [
        "AttributeError: `np.float_` was removed in the NumPy 2.0 release. Use `np.float64` instead.",
        "RuntimeError: this trainer requires torch>=3.1, but 2.13.0 is installed",
        "ImportError: fused needs CUDA version 11.8, found 13.0",
    ],
)
def test_what_another_version_had_is_a_matter_of_versions(text: str) -> None:
    assert say(only(versions_disagree, made.a_job(failed(text, "ops.py:4")))) == ("version-skew", (0,), ("ops.py:4",))


def test_a_plain_exception_is_none_of_these() -> None:
    assert everyone(made.a_job(failed("ValueError: loss is 3", "train.py:8"))) == []

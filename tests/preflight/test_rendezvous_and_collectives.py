"""The probes of ranks: silent on healthy ranks, and naming what was really broken."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from fakes import TORCH, FakeRanks, fake_machine, preflight_config, rank_results

from diagnostics import preflight
from diagnostics.adapter.description import JobDescription
from diagnostics.core.findings import Severity
from diagnostics.core.registry import discover
from diagnostics.core.thresholds import Thresholds
from diagnostics.machine.contract import Machine
from diagnostics.machine.execution.ranks import TorchRanks
from diagnostics.machine.facts import NOTHING, Gpu, MachineError, RankResult
from diagnostics.preflight.collectives import all_reduce, all_reduce_speed, object_collectives
from diagnostics.preflight.device import device_agreement, gpu_health, matmul_accuracy
from diagnostics.preflight.probe import PreflightConfig, Skip
from diagnostics.preflight.rendezvous import barriers, gloo_hello, nccl_hello, rendezvous_environment, world_size_one
from diagnostics.record.nccl_log import Warned, reason, transports, warnings

OF_RANKS = {code: module for code, module in discover(preflight).items() if code[1] in "345"}
WITHOUT_GPU = ("P303", "P504")


@pytest.fixture(scope="module")
def ranks() -> Iterator[TorchRanks]:
    found = TorchRanks(sys.executable)
    yield found
    found.close()


class WithArguments:
    """Real ranks that are given more arguments than the probe gives: a fault to make."""

    def __init__(self, ranks: TorchRanks, **more: Any) -> None:
        self.ranks = ranks
        self.more = more
        self.torch_facts = ranks.torch_facts

    def run_task(self, task: str, nproc: int, **given: Any) -> list[RankResult]:
        return self.ranks.run_task(
            task, nproc, **{**given, "arguments": {**given.get("arguments", NOTHING), **self.more}}
        )


def config(tmp_path: Path, **changes: Any) -> PreflightConfig:
    return replace(preflight_config(tmp_path), python=sys.executable, nproc=2, backend="auto", **changes)


def job(**changes: Any) -> JobDescription:
    return JobDescription(module="m", config=Path("c.yaml"), **changes)


@pytest.mark.parametrize("module", OF_RANKS.values(), ids=list(OF_RANKS))
def test_healthy_ranks_are_silent(module: ModuleType, ranks: TorchRanks, tmp_path: Path) -> None:
    machine = fake_machine(ranks=ranks)
    if module.CODE in WITHOUT_GPU:
        with pytest.raises(Skip):
            module.probe(machine, config(tmp_path))
        return
    result = module.probe(machine, config(tmp_path, job=job(precision="bfloat16")))
    assert [finding.title for finding in result.findings] == []


@pytest.mark.parametrize("module", OF_RANKS.values(), ids=list(OF_RANKS))
def test_one_rank_alone_is_healthy_or_skipped(module: ModuleType, ranks: TorchRanks, tmp_path: Path) -> None:
    try:
        result = module.probe(fake_machine(ranks=ranks), replace(config(tmp_path), nproc=1))
    except Skip:
        assert module.CODE in (*WITHOUT_GPU, "P405", "P407", "P503")
        return
    assert result.findings == ()


def test_an_interface_that_is_not_there_is_named_by_the_ranks_that_tried(ranks: TorchRanks, tmp_path: Path) -> None:
    wrong = config(tmp_path, job=job(env={"GLOO_SOCKET_IFNAME": "eth99"}))
    (finding, *others) = gloo_hello.probe(fake_machine(ranks=ranks), wrong).findings
    assert others == []
    assert finding.name == "network-interface-missing"
    assert "which this machine does not have" in finding.title
    assert "eth99" in finding.title
    (named,) = rendezvous_environment.probe(fake_machine(ranks=ranks), wrong).findings
    assert named.title == "GLOO_SOCKET_IFNAME=eth99 names eth99, which this machine does not have; it has lo"


def test_a_master_that_cannot_be_found_is_named(ranks: TorchRanks, tmp_path: Path) -> None:
    wrong = config(
        tmp_path,
        job=job(env={"MASTER_ADDR": "no-such-host.invalid", "MASTER_PORT": "29500"}),
        thresholds=Thresholds(rendezvous_deadline_s=6.0),
    )
    (finding,) = gloo_hello.probe(fake_machine(ranks=ranks), wrong).findings
    assert finding.name == "master-unreachable"
    assert finding.title.endswith(
        "failed in the gloo rendezvous: no answer from the store at no-such-host.invalid, 29500"
    )


def test_a_wrong_sum_names_operation_dtype_rank_and_values(ranks: TorchRanks, tmp_path: Path) -> None:
    machine = fake_machine(ranks=WithArguments(ranks, corrupt_rank=1))
    findings = all_reduce.probe(machine, config(tmp_path)).findings
    assert [finding.title for finding in findings] == [
        f"all_reduce of {dtype} gave rank 1 the value 4.0, right is 3.0" for dtype in ("float32", "float64", "int64")
    ]
    assert {finding.where for finding in findings} == {"rank 1"}


def test_a_wrong_object_names_its_rank(ranks: TorchRanks, tmp_path: Path) -> None:
    machine = fake_machine(ranks=WithArguments(ranks, corrupt_rank=0))
    (finding,) = object_collectives.probe(machine, config(tmp_path)).findings
    assert finding.title.startswith("all_gather_object of object gave rank 0 the value [None, {'rank': 1")


def test_of_two_ranks_that_differ_both_are_named_and_of_three_the_odd_one(ranks: TorchRanks, tmp_path: Path) -> None:
    machine = fake_machine(ranks=WithArguments(ranks, corrupt_rank=1))
    (two,) = device_agreement.probe(machine, config(tmp_path)).findings
    (three,) = device_agreement.probe(machine, replace(config(tmp_path), nproc=3)).findings
    assert (two.where, three.where) == ("ranks 0, 1", "rank 1")
    assert three.title == "rank 1 computes other bits from the same input"


def test_a_matmul_outside_rounding_is_named_and_so_is_nan(tmp_path: Path) -> None:
    answers = [
        {"device": "CPU", "errors": {"float32": 1e-7}},
        {"device": "CPU", "errors": {"float32": float("nan")}},
        {"device": "CPU", "errors": {"float32": 0.5}},
    ]
    machine = fake_machine(ranks=FakeRanks(answers=rank_results(answers)))
    findings = matmul_accuracy.probe(machine, config(tmp_path)).findings
    assert [finding.where for finding in findings] == ["rank 1", "rank 2"]


def test_slower_than_the_last_good_run_is_a_warning_and_noise_is_not(tmp_path: Path) -> None:
    machine = fake_machine(ranks=FakeRanks(answers=rank_results([{"small_s": 4e-4, "large_s": 1e-2}] * 2)))
    good = {"P407": {"latency_us": 100.0, "large_us": 9000.0}}
    (finding,) = all_reduce_speed.probe(machine, config(tmp_path, last_good=good)).findings
    assert finding.title == "all_reduce of 4 B takes 400 us, 4.0 times the 100 us of the last good run"
    assert all_reduce_speed.probe(machine, config(tmp_path)).findings == ()


def test_a_monitored_barrier_that_names_nobody_is_a_finding(tmp_path: Path) -> None:
    answers = [{"barrier_seconds": 0.1, "said": "nothing: it let all ranks pass"}, {"barrier_seconds": 0.1, "said": ""}]
    machine = fake_machine(ranks=FakeRanks(answers=rank_results(answers)))
    (finding,) = barriers.probe(machine, config(tmp_path)).findings
    assert finding.title == "monitored_barrier does not name rank 1, which stayed away"


def test_without_torch_the_probes_of_ranks_are_skipped(tmp_path: Path) -> None:
    class NoTorch(FakeRanks):
        def torch_facts(self) -> Any:
            raise MachineError("torch does not import under /usr/bin/python3: No module named 'torch'")

    with pytest.raises(Skip, match="needs torch: torch does not import"):
        world_size_one.probe(fake_machine(ranks=NoTorch()), config(tmp_path))


def test_launcher_variables_exported_by_hand_are_named_but_not_a_launchers(tmp_path: Path) -> None:
    exported = {"RANK": "0", "WORLD_SIZE": "8"}
    by_hand = replace(fake_machine(), environ=exported)
    by_slurm = replace(fake_machine(), environ={**exported, "SLURM_PROCID": "0"})
    (finding,) = rendezvous_environment.probe(by_hand, config(tmp_path)).findings
    assert finding.fix is not None
    assert finding.fix.commands == ("unset RANK WORLD_SIZE",)
    assert rendezvous_environment.probe(by_slurm, config(tmp_path)).findings == ()


@pytest.mark.parametrize(
    ("text", "launcher", "severity"),
    [
        ("dist.init_process_group('gloo')\n", (), "error"),
        ("print(1)\n", (), "warning"),
        ("dist.init_process_group('gloo')\n", ("torchrun",), "warning"),
    ],
)
def test_a_script_without_a_launcher_that_begins_a_group_waits_for_the_ranks_of_the_shell(
    tmp_path: Path, text: str, launcher: tuple[str, ...], severity: str
) -> None:
    script = tmp_path / "train.py"
    script.write_text(text)
    words = (*launcher, str(script)) if launcher else ("python", str(script))
    exported = replace(fake_machine(), environ={"RANK": "3", "WORLD_SIZE": "8"})
    (finding,) = rendezvous_environment.probe(exported, replace(config(tmp_path), script=words)).findings
    assert finding.severity.name.lower() == severity


@pytest.mark.parametrize(("variable", "severity"), [("NCCL_SOCKET_IFNAME", "warning"), ("GLOO_SOCKET_IFNAME", "error")])
def test_what_only_nccl_reads_is_no_error_on_a_machine_without_gpus(
    tmp_path: Path, variable: str, severity: str
) -> None:
    machine = replace(fake_machine(), environ={variable: "ib7"})
    (finding,) = rendezvous_environment.probe(machine, config(tmp_path)).findings
    assert (finding.severity.name.lower(), finding.name) == (severity, "network-interface-missing")


# Lines as NCCL 2.21 and 2.27 write them.
SHM_LOG = """node1:4121:4150 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.5<0>
node1:4121:4150 [0] misc/shmutils.cc:72 NCCL WARN Error: failed to extend /dev/shm/nccl-A: No space left on device (28)
node1:4121:4150 [0] misc/shmutils.cc:113 NCCL WARN Error while creating shared memory segment /dev/shm/nccl-Ab3
node1:4121:4150 [0] NCCL INFO transport/shm.cc:114 -> 2
"""
P2P_LOG = (
    "n:1:2 [1] NCCL INFO x\n\n[2025-11-02 03:11:09] n:1:2 [1] transport/p2p.cc:271 NCCL WARN Cuda failure 217 "
    "'peer access is not supported between these two devices'\n"
)
HEALTHY_LOG = """n:1:7 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM
n:1:7 [0] NCCL INFO Channel 01/0 : 0[0] -> 1[1] via SHM/direct/direct
"""


def test_the_reason_is_read_out_of_nccls_log() -> None:
    first, second = warnings([SHM_LOG, SHM_LOG])
    assert first.meaning == second.meaning == "shared memory is too small or not writable"
    assert first.text.startswith("Error: failed to extend /dev/shm/nccl-A")
    peer = reason([P2P_LOG])
    assert peer is not None
    assert peer.meaning == "the GPUs cannot reach each other's memory"
    assert reason(["n:1:2 [0] NCCL WARN something new"]) == Warned("something new")
    twice = reason(
        ["n:7:7 [0] init.cc:943 NCCL WARN Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 53000"]
    )
    assert twice is not None
    assert twice.meaning == "two ranks use the same GPU"
    assert (reason([HEALTHY_LOG]), transports([HEALTHY_LOG])) == (None, ("P2P/CUMEM", "SHM/direct/direct"))


class RanksOfABrokenNccl(FakeRanks):
    """NCCL works with P2P off only."""

    def run_task(self, task: str, nproc: int, *, backend: str, env: Mapping[str, str], **_: Any) -> list[RankResult]:
        good = rank_results([{"init_seconds": 0.2, "got": 3.0, "expected": 3.0}] * nproc)
        if backend == "gloo" or "NCCL_P2P_DISABLE" in env:
            return good
        return [replace(rank, returncode=1, answer={}, stdout=P2P_LOG) for rank in good]


@pytest.mark.parametrize("backend", ["auto", "nccl"])  # auto takes NCCL where there are GPUs
def test_a_broken_nccl_is_told_with_what_makes_it_work(backend: str, tmp_path: Path) -> None:
    torch = replace(TORCH, cuda="12.8", nccl="2.27.3", device_count=2, nccl_available=True)
    machine = fake_machine(ranks=RanksOfABrokenNccl(facts=torch))
    (finding,) = nccl_hello.probe(machine, replace(config(tmp_path), backend=backend)).findings
    assert finding.severity is Severity.ERROR
    assert finding.title == (
        "NCCL broken (the GPUs cannot reach each other's memory), gloo fine, works with NCCL_P2P_DISABLE=1"
    )
    assert finding.fix is not None
    assert finding.fix.commands == ("export NCCL_P2P_DISABLE=1",)


def test_the_absent_rank_is_read_out_of_the_barriers_own_sentence() -> None:
    # The sentence ends in a time: no number of it may pass for a rank.
    said = "[Rank 0]: Ranks 1, 13 failed to pass monitoredBarrier in 300 ms"
    assert barriers._named(said) == {1, 13}
    assert barriers._named("[Rank 0]: Rank 3 failed to pass monitoredBarrier in 300 ms") == {3}
    assert barriers._named("nothing: it let all ranks pass") == set()


def test_a_sick_gpu_is_named_and_an_idle_one_is_not(tmp_path: Path) -> None:
    healthy = Gpu(
        index=0, name="H100", uuid="a", memory_used_bytes=0, memory_total_bytes=1, throttle_reasons=("gpu_idle",)
    )
    sick = replace(healthy, index=1, ecc_volatile=2, temperature_c=91, throttle_reasons=("hw_thermal_slowdown",))

    class Two:
        def devices(self) -> tuple[Gpu, ...]:
            return (healthy, sick)

    findings = gpu_health.probe(fake_machine(gpus=Two()), config(tmp_path)).findings
    assert [finding.title for finding in findings] == [
        "GPU 1 (H100): 2 uncorrected ECC errors since the driver was loaded",
        "GPU 1 (H100): clocks lowered: hw_thermal_slowdown",
        "GPU 1 (H100): 91 C",
    ]


@pytest.mark.gpu
def test_nccl_meets_on_this_machines_gpus(tmp_path: Path, ranks: TorchRanks) -> None:
    if not ranks.torch_facts().device_count:
        pytest.skip("needs an NVIDIA GPU and a torch built for CUDA")
    machine: Machine = fake_machine(ranks=ranks)
    assert nccl_hello.probe(machine, config(tmp_path)).findings == ()

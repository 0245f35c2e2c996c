"""NCCL hello-world: the ranks meet and add their numbers on the GPUs.

What it does: opens an NCCL process group, one rank a GPU, and checks one all_reduce. Where that fails it reads the
reason out of NCCL's own log, tries again with P2P off, shared memory off and on the loopback interface, and tries
gloo, so that the report says which variable makes it work and what is left without it.

Why it matters: NCCL's error in a job is "unhandled system error"; the reason stands only in its debug log.

Fix: export the variable that made it work, or follow the reason; `--backend gloo` trains without NCCL, slower.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.machine.contract import Machine
from diagnostics.machine.facts import ChildTimeout, RankResult
from diagnostics.preflight import rank_tasks
from diagnostics.preflight.probe import NotApplicable, PreflightConfig, ProbeResult, Stage
from diagnostics.preflight.rank_values import hello_finding
from diagnostics.record.nccl_log import reason, transports

CODE = "P303"
NAME = "nccl-hello"
STAGE = Stage.RENDEZVOUS
REQUIRES: tuple[str, ...] = ()

# To stdout, also where the user's own settings send it to a file or ask for other parts.
LOGGED = {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_FILE": "", "NCCL_DEBUG_SUBSYS": "INIT,ENV"}
REMEDIES: tuple[Mapping[str, str], ...] = (
    {"NCCL_P2P_DISABLE": "1"},
    {"NCCL_SHM_DISABLE": "1"},
    {"NCCL_SOCKET_IFNAME": "lo"},
    {"NCCL_P2P_DISABLE": "1", "NCCL_SHM_DISABLE": "1"},
)
REMEDY_DEADLINE_S = 12.0  # each; a healthy NCCL group of one machine is there within a few seconds


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns how NCCL's channels go, or why there are none and what makes them work."""
    torch = rank_tasks.torch_of(machine)
    if config.backend == "gloo":
        raise NotApplicable("the backend asked for is gloo")
    if not torch.device_count:
        raise NotApplicable("no GPU that torch can use")
    if not torch.nccl_available:
        raise NotApplicable("this torch was built without NCCL")
    nproc = min(config.nproc, torch.device_count)
    ranks, late = _attempt(machine, config, nproc, {})
    logs = [rank.stdout + rank.stderr for rank in ranks]
    if _fine(ranks):
        how = ", ".join(transports(logs)) or "one GPU"
        seconds = [rank.answer["init_seconds"] for rank in ranks]
        return ProbeResult(
            title=f"nccl {torch.nccl}: {nproc} ranks met in {max(seconds):.2f} s by {how}",
            measured={"init_seconds_by_rank": seconds},
        )
    return ProbeResult(title="nccl", findings=(_broken(machine, config, nproc, logs, late),))


def _attempt(
    machine: Machine, config: PreflightConfig, nproc: int, remedy: Mapping[str, str]
) -> tuple[Sequence[RankResult], str]:
    """Returns how the ranks ended; after a deadline none, and where they stood."""
    deadline_s = min(REMEDY_DEADLINE_S, config.thresholds.rendezvous_deadline_s) if remedy else None
    env = {**LOGGED, **remedy}
    try:
        return rank_tasks.run(machine, config, "hello", backend="nccl", nproc=nproc, env=env, deadline_s=deadline_s), ""
    except ChildTimeout as late:
        return (), str(late)


def _fine(ranks: Sequence[RankResult]) -> bool:
    healthy = all(rank.returncode == 0 for rank in ranks)
    return bool(ranks) and healthy and not hello_finding(CODE, ranks, "nccl")


def _broken(machine: Machine, config: PreflightConfig, nproc: int, logs: Sequence[str], late: str) -> Finding:
    why = reason(logs)
    works = next((one for one in REMEDIES if _fine(_attempt(machine, config, nproc, one)[0])), None)
    gloo = _gloo_is_fine(machine, config)
    said = f"{why.meaning or why.text}" if why else late or "its log gives no reason"
    return Finding(
        code=CODE,
        name="backend-unavailable",
        severity=Severity.ERROR,  # also for backend auto: that takes NCCL where there are GPUs
        title=f"NCCL broken ({said}), gloo {'fine' if gloo else 'broken too'}{_with(works)}",
        where=f"{nproc} ranks, one a GPU",
        evidence=_evidence(logs, why.text if why else late),
        fix=_fix(works, why.remedy if why else ""),
    )


def _gloo_is_fine(machine: Machine, config: PreflightConfig) -> bool:
    try:
        ranks = rank_tasks.run(machine, config, "hello", backend="gloo", nproc=config.nproc)
    except ChildTimeout:
        return False
    return all(rank.returncode == 0 for rank in ranks)


def _with(works: Mapping[str, str] | None) -> str:
    return f", works with {_exports(works)}" if works else ", none of the usual variables helps"


def _exports(variables: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in variables.items())


def _evidence(logs: Sequence[str], said: str) -> tuple[Evidence, ...]:
    tail = "\n".join(log.strip()[-800:] for log in logs[:2])
    return (
        Evidence(source="NCCL_DEBUG=INFO log of the ranks", observed=said or tail or "nothing", expected="no WARN"),
    )


def _fix(works: Mapping[str, str] | None, remedy: str) -> Fix:
    if works:
        return Fix(text=remedy or "set what made it work", commands=(f"export {_exports(works)}",))
    return Fix(
        text=remedy or "train on gloo meanwhile, which is much slower, and read NCCL's own log",
        commands=("ups-doctor preflight --backend gloo", "NCCL_DEBUG=INFO <your command>"),
    )

"""How the probes run a verb of the job's adapter once a rank. No probe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from diagnostics.core.own_folders import AGENT
from diagnostics.machine.contract import Machine
from diagnostics.machine.facts import NOTHING, MachineError, RankResult
from diagnostics.preflight.probe import PreflightConfig

SET_IN_TIME = ("OMP_NUM_THREADS",)  # what a process that has imported torch can still take up


def run(
    machine: Machine,
    config: PreflightConfig,
    argv: Sequence[str],
    *,
    deadline_s: float,
    env: Mapping[str, str],
    agent: Mapping[str, str] = NOTHING,
) -> list[RankResult]:
    """Returns how each rank of `python -m MODULE ...` ended; `agent` are the variables that put it under the agent.

    Without a GPU the ranks are forked from the warm child, which saves each the 3 s of torch's imports. They
    are programs of their own where that could change what is found: CUDA does not survive a fork,
    and a variable of the job, or a script in place of Python, may act on its start.
    """
    python, _, module, *arguments = argv
    whole = {**env, **agent}
    if not may_fork(machine, python, env):
        return machine.ranks.run_command(argv, config.nproc, deadline_s=deadline_s, env=whole)
    asked = {"module": module, "argv": arguments, "agent": str(AGENT)}
    return machine.ranks.run_task(
        "module", config.nproc, backend=config.backend, deadline_s=deadline_s, arguments=asked, env=whole
    )


def may_fork(machine: Machine, python: str, env: Mapping[str, str]) -> bool:
    """Returns whether ranks forked from the warm child are what programs of their own would be."""
    known = all(name in SET_IN_TIME or machine.environ.get(name) == value for name, value in env.items())
    try:
        torch = machine.ranks.torch_facts()
    except MachineError:  # torch does not import: the adapter's own words say more
        return False
    return known and torch.device_count == 0 and torch.executable == python

"""Puts the real providers together."""

from __future__ import annotations

import getpass
import os
import sys

from diagnostics.machine.contract import Machine
from diagnostics.machine.execution.child_process import GroupChild
from diagnostics.machine.host.disks import MountedDisks
from diagnostics.machine.host.gpus import NvmlGpus
from diagnostics.machine.host.limits import KernelLimits
from diagnostics.machine.host.memory import SystemMemory
from diagnostics.machine.host.network import TcpNetwork
from diagnostics.machine.processes.processes import SystemProcesses


def this_machine(*, python: str = sys.executable) -> Machine:
    """Returns the machine this runs on; `python` is the interpreter of children that need torch.

    Nothing is asked and nothing is started before a provider is used.
    """
    from diagnostics.machine.execution.ranks import TorchRanks

    processes = SystemProcesses()
    return Machine(
        gpus=NvmlGpus(),
        processes=processes,
        network=TcpNetwork(processes),
        memory=SystemMemory(),
        disks=MountedDisks(),
        limits=KernelLimits(),
        child=GroupChild(),
        ranks=TorchRanks(python),
        environ=dict(os.environ),
        user=_user(),
    )


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run under a uid without a name
        return str(os.getuid())


def open_machine(python: str) -> Machine:
    """Returns the real machine, to be used in a `with` block; nothing is started yet."""
    from diagnostics.machine.this import this_machine

    return this_machine(python=python)

"""Why the kernel does not let this process read the memory of another one, and what would change that."""

from __future__ import annotations

import os
from pathlib import Path

CAP_SYS_PTRACE = 19
_SCOPE = Path("/proc/sys/kernel/yama/ptrace_scope")


def what_would_help() -> str:
    """Returns the command, or the option of a container, after which stacks can be read."""
    status = _status()
    scope = _scope()
    if status.get("Seccomp") == "2" or (os.geteuid() == 0 and not _may_trace(status)):
        return "start the container with --cap-add SYS_PTRACE, or look from the host: sudo ups-doctor stacks PID"
    if scope == 3:
        return "kernel.yama.ptrace_scope is 3, which only a reboot without that setting changes"
    if scope in (1, 2) and not _may_trace(status):
        return "sudo sysctl kernel.yama.ptrace_scope=0, or as root: sudo ups-doctor stacks PID"
    return "look as root: sudo ups-doctor stacks PID"


def _may_trace(status: dict[str, str]) -> bool:
    try:
        return bool(int(status.get("CapEff", "0"), 16) >> CAP_SYS_PTRACE & 1)
    except ValueError:
        return False


def _scope() -> int:
    try:
        return int(_SCOPE.read_text())
    except (OSError, ValueError):  # a kernel without Yama asks for no more than the same user
        return 0


def _status() -> dict[str, str]:
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}

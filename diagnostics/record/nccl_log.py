"""Reads NCCL's own log (NCCL_DEBUG=INFO): what it warned of, what that means, what to try. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

# [date time] host:pid:tid [device] file:line NCCL WARN text        the time since NCCL 2.26, the file before some texts
WARN = re.compile(
    r"^(?:\[[^\]\n]*\]\s+)?(?P<where>\S+:\d+:\d+)\s+\[(?P<device>-?\d+)\]\s+(?:\S+:\d+\s+)?NCCL WARN (?P<text>.*)$",
    re.MULTILINE,
)
TRANSPORT = re.compile(r"NCCL INFO Channel \S+(?: \S+)? ?: .{0,200} via (?P<how>\S+)")


@dataclass(frozen=True)
class Meaning:
    """A text of NCCL's, its meaning, and the variable or command that helps."""

    pattern: re.Pattern[str]
    meaning: str
    remedy: str


MEANINGS = (
    Meaning(
        re.compile(r"Duplicate GPU detected"),
        "two ranks use the same GPU",
        "start no more ranks than GPUs, and call torch.cuda.set_device(LOCAL_RANK) before the process group",
    ),
    Meaning(
        re.compile(r"posix_fallocate|shared memory segment|/dev/shm|No space left on device"),
        "shared memory is too small or not writable",
        "docker run --shm-size=4g ... (or --ipc=host); to go without: export NCCL_SHM_DISABLE=1",
    ),
    Meaning(
        re.compile(r"peer access|P2P|p2p|cudaIpc|ipc handle", re.IGNORECASE),
        "the GPUs cannot reach each other's memory",
        "export NCCL_P2P_DISABLE=1 (slower; look for IOMMU / ACS settings of the host)",
    ),
    Meaning(
        re.compile(r"No interface found|Bootstrap : no socket interface|no socket interface found", re.IGNORECASE),
        "NCCL found no network interface it may use",
        "unset NCCL_SOCKET_IFNAME, or name one of: ip -brief address",
    ),
    Meaning(
        re.compile(r"driver version is insufficient|forward compatibility", re.IGNORECASE),
        "the NVIDIA driver is older than this CUDA needs",
        "update the driver, or install a torch for an older CUDA",
    ),
    Meaning(
        re.compile(r"Connection (?:refused|timed out|reset)|No route to host|connect to \S+ failed", re.IGNORECASE),
        "the ranks' sockets do not reach each other",
        "export NCCL_SOCKET_IFNAME=<interface between the machines>, and open the ports between them",
    ),
    Meaning(
        re.compile(r"unhandled cuda error|Cuda failure", re.IGNORECASE),
        "a CUDA call failed inside NCCL",
        "see the CUDA error in the line; try export NCCL_P2P_DISABLE=1, then nvidia-smi for a sick GPU",
    ),
)


@dataclass(frozen=True)
class Warned:
    """One warning of NCCL's; `meaning` and `remedy` are empty where the text is not known."""

    text: str
    meaning: str = ""
    remedy: str = ""


def warnings(logs: Iterable[str]) -> tuple[Warned, ...]:
    """Returns the warnings of all ranks' logs, each once, in their order."""
    texts = dict.fromkeys(found["text"].strip() for log in logs for found in WARN.finditer(log))
    return tuple(_explained(text) for text in texts)


def reason(logs: Iterable[str]) -> Warned | None:
    """Returns the first warning whose meaning is known, else the first of all."""
    found = warnings(logs)
    return next((one for one in found if one.meaning), found[0] if found else None)


def transports(logs: Iterable[str]) -> tuple[str, ...]:
    """Returns how NCCL's channels go: P2P/CUMEM, SHM/direct/direct, NET/Socket/0 ..."""
    return tuple(sorted({found["how"] for log in logs for found in TRANSPORT.finditer(log)}))


def _explained(text: str) -> Warned:
    for known in MEANINGS:
        if known.pattern.search(text):
            return Warned(text, known.meaning, known.remedy)
    return Warned(text)

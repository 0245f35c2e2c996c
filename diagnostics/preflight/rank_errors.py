"""Turns what failed ranks of a task wrote into findings: who failed by itself, why, and what helps. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.machine.facts import RankResult
from diagnostics.record.torch_messages import CONNECTION_LOST

EXCEPTION = re.compile(r"^[\w.]*(?:Error|Exception|Interrupt)\b.*", re.MULTILINE)
FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+) in (?P<function>\S+)')
SHOWN_STDERR = 1500  # characters of evidence


@dataclass(frozen=True)
class KnownError:
    """A text that torch or gloo writes, and what it means; groups of the pattern fill the words."""

    pattern: re.Pattern[str]
    name: str
    meaning: str
    fix: str
    commands: tuple[str, ...] = ()


KNOWN = (
    KnownError(
        re.compile(r"Unable to find address for: (?P<what>\S+)"),
        "network-interface-missing",
        "gloo was told to use the network interface {what}, which this machine does not have",
        "name an interface that exists, or unset the variable",
        ("unset GLOO_SOCKET_IFNAME", "ip -brief address"),
    ),
    KnownError(
        re.compile(r"EADDRINUSE|address already in use", re.IGNORECASE),
        "port-in-use",
        "the rendezvous port is taken by another process",
        "use another port, or end what holds it",
        ("ss -ltnp",),
    ),
    KnownError(
        re.compile(r"client socket has timed out after \S{1,40} while trying to connect to \((?P<what>[^()]*)\)"),
        "master-unreachable",
        "no answer from the store at {what}",
        "set MASTER_ADDR to an address of the machine that runs rank 0, and let its port through the firewall",
        ("getent hosts $MASTER_ADDR",),
    ),
    KnownError(
        re.compile(r"Failed to init uv loop|Too many open files"),
        "fd-exhaustion",
        "no file descriptor is left",
        "raise the limit in the shell that starts the job",
        ("ulimit -n 65536",),
    ),
    KnownError(
        re.compile(r"(?:CUDA out of memory|not enough memory|DefaultCPUAllocator)"),
        "out-of-memory",
        "the memory asked for could not be had",
        "end what holds the memory, or use fewer ranks",
        ("nvidia-smi", "free -h"),
    ),
)


def rank_failures(code: str, results: Sequence[RankResult], *, doing: str, rerun: str) -> tuple[Finding, ...]:
    """Returns one finding for each cause among the ranks that failed, () where none did.

    Ranks that only lost a peer, or were ended since a peer had failed, are no culprits while another is.
    """
    failed = [result for result in results if result.returncode != 0]
    own = [result for result in failed if not result.ended and not (_lost(result) and result.signal is None)]
    groups: dict[str, list[RankResult]] = {}
    for result in own or failed:
        groups.setdefault(_sentence(result), []).append(result)
    return tuple(_finding(code, said, group, doing, rerun) for said, group in groups.items())


def ranks_named(results: Sequence[RankResult]) -> str:
    """Returns 'rank 1' or 'ranks 0, 2'."""
    numbers = [str(result.rank) for result in results]
    return f"rank {numbers[0]}" if len(numbers) == 1 else f"ranks {', '.join(numbers)}"


def stuck_at(stderr: str) -> str:
    """Returns the innermost Python line of the stack a rank wrote before it was ended, "" where there is none."""
    frame = FRAME.search(stderr[stderr.rfind("(most recent call first)") :])
    return f"{frame['function']} ({frame['file']}:{frame['line']})" if frame else ""


def _lost(result: RankResult) -> bool:
    return bool(CONNECTION_LOST.search(result.stderr)) and _known(result) is None


def _sentence(result: RankResult) -> str:
    known = _known(result)
    if known is not None:
        found = known.pattern.search(result.stderr)
        return known.meaning.format(**found.groupdict() if found else {})
    if result.signal is not None:
        return f"killed by signal {result.signal}"
    said = EXCEPTION.findall(result.stderr)
    return said[-1] if said else f"exit code {result.returncode}"


def _known(result: RankResult) -> KnownError | None:
    return next((known for known in KNOWN if known.pattern.search(result.stderr)), None)


def _finding(code: str, said: str, group: Sequence[RankResult], doing: str, rerun: str) -> Finding:
    known = _known(group[0])
    who = ranks_named(group)
    name = known.name if known else "native-crash" if group[0].signal is not None else "rank-failed"
    fix = Fix(text=known.fix, commands=known.commands) if known else Fix(text="run it alone", commands=(rerun,))
    return Finding(
        code=code,
        name=name,
        severity=Severity.ERROR,
        title=f"{who} failed in {doing}: {said}",
        where=who,
        evidence=(
            Evidence(
                source=f"stderr of rank {group[0].rank} in: {rerun}",
                observed=group[0].stderr.strip()[-SHOWN_STDERR:] or said,
                expected="exit code 0",
            ),
        ),
        fix=fix,
    )

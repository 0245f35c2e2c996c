"""Which ranks failed by their own doing and which ones only lost their peers. Pure.

No majority votes: two ranks are enough. A rank is a victim where it was ended by whoever ran it, or complains
about a lost peer while another rank failed for a reason of its own.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from diagnostics.core.wording import last_line, last_lines, signal_name
from diagnostics.dynamic.job import stack_classifier
from diagnostics.dynamic.job.last_activity import LastActivity, last_activity
from diagnostics.machine.facts import RankResult
from diagnostics.record.agent_data import AgentData, LifecycleEvent
from diagnostics.record.stacks import FaulthandlerLog
from diagnostics.record.torch_messages import LOST_PEER

SEARCHED_LINES = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class RankOutcome:
    """How one rank ended, and what its agent and faulthandler left."""

    rank: int
    signal: int | None
    returncode: int | None
    timed_out: bool
    ended: bool  # by whoever ran the ranks, after another one failed or at the deadline
    seconds: float
    stderr: str
    agent: AgentData | None
    fault: FaulthandlerLog | None

    @classmethod
    def of(cls, result: RankResult, agent: AgentData | None, fault: FaulthandlerLog | None) -> Self:
        """Returns the end of a rank that was run here."""
        return cls(
            rank=result.rank,
            signal=result.signal,
            returncode=result.returncode,
            timed_out=result.timed_out,
            ended=result.ended,
            seconds=result.seconds,
            stderr=result.stderr,
            agent=agent,
            fault=fault,
        )

    @property
    def failed(self) -> bool:
        """Did not end by itself with exit code 0."""
        return self.timed_out or self.signal is not None or self.returncode != 0

    @property
    def stuck(self) -> bool:
        """Was still there when its time was up, or wrote the timed stacks before it was ended."""
        timed = self.fault is not None and self.fault.error.startswith("Timeout")
        return self.timed_out or (self.ended and timed)

    @property
    def exception(self) -> LifecycleEvent | None:
        """The exception that ended the process, None where a signal did."""
        return self.agent.last_event("exception") if self.agent is not None and self.signal is None else None

    @property
    def error(self) -> str:
        """The exception's text, else the last line it wrote."""
        return self.exception.text if self.exception is not None else last_line(self.stderr)

    @property
    def lost_peer(self) -> bool:
        """Ended by an exception about a peer that went away.

        Such a rank may still abort: its interpreter shuts down while threads of the process group live.
        """
        said = self.exception.text if self.exception is not None else last_lines(self.stderr, SEARCHED_LINES)
        by_itself = self.signal in (None, signal.SIGABRT)
        return by_itself and not self.timed_out and bool(LOST_PEER.search(said))

    @property
    def waits_for_peers(self) -> bool:
        """Stuck inside torch.distributed, or in a backward pass that may reduce gradients."""
        crashed = self.fault.crashed if self.fault is not None else None
        return any(
            stack_classifier.MAY_WAIT.search(frame.file) for frame in (crashed.frames if crashed is not None else ())
        )

    @property
    def signal_name(self) -> str:
        """The signal's name, "" where none ended it."""
        return "" if self.signal is None else signal_name(self.signal)

    def death(self) -> LastActivity | None:
        """Where it stood, None without an agent's file."""
        return last_activity(self.agent, self.fault, self.exception) if self.agent is not None else None


def culprits(ends: Sequence[RankOutcome]) -> list[RankOutcome]:
    """Returns the ranks that failed by their own doing; every failed rank where none stands out."""
    failed = [end for end in ends if end.failed]
    acted = [end for end in failed if not end.ended and not end.lost_peer]
    if acted:
        return acted
    stuck = [end for end in failed if end.stuck]
    if stuck:
        return [end for end in stuck if not end.waits_for_peers] or stuck
    return [end for end in failed if not end.ended] or failed

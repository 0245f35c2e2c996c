"""How each rank of one run ended, with what it answered and what its agent left. Data only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from diagnostics.bisection.tries.trial_answers import RankError, TrialAnswer
from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.rank_ends import RankOutcome
from diagnostics.record.stacks import parse_fault_report
from diagnostics.record.torch_messages import LOST_PEER

LEAVING = "end"  # the phase in which a rank takes its process group down: the model has been run


@dataclass(frozen=True, slots=True, kw_only=True)
class RankRun:
    """One rank of one run."""

    end: RankOutcome
    answer: TrialAnswer | None

    @property
    def rank(self) -> int:
        """Its number."""
        return self.end.rank

    @property
    def done(self) -> bool:
        """The model was run to its end; how the process went away afterwards is no matter of the model."""
        return self.answer is not None and (self.answer.finished or self.answer.phase == LEAVING) and not self.error

    @property
    def error(self) -> RankError | None:
        """The exception that ended the try."""
        return self.answer.error if self.answer is not None else None

    @property
    def lost_peer(self) -> bool:
        """Complains about a peer that went away."""
        said = self.error is not None and bool(LOST_PEER.search(f"{self.error.type}: {self.error.message}"))
        return said or (self.error is None and self.end.lost_peer)

    @property
    def acted(self) -> bool:
        """Ended, by its own doing, before the model was run to its end."""
        return not self.done and not self.end.ended and not self.end.timed_out and not self.lost_peer

    @property
    def killed(self) -> str:
        """The name of the signal that ended it, "" where none did or it came from whoever ran the ranks."""
        return "" if self.end.ended or self.end.timed_out else self.end.signal_name

    @property
    def fault_frames(self) -> tuple[Frame, ...]:
        """The stack of the thread that a signal hit, or the main thread's where time was up."""
        report = self.end.fault or parse_fault_report(self.end.stderr)
        return report.crashed.frames if report is not None and report.crashed is not None else ()

    @property
    def leaving_frames(self) -> tuple[Frame, ...]:
        """Where the process was told to go away by its own code: os._exit, sys.exit, a signal it sent itself."""
        agent = self.end.agent
        if agent is None:
            return ()
        if self.end.signal is not None:
            own = f"pid={agent.pid} signal={self.end.signal} "
            kills = [one for one in agent.events if one.kind == "kill" and one.text.startswith(own)]
            return kills[-1].path if kills else ()
        left = agent.last_event("os._exit", "sys.exit")
        return left.path if left is not None else ()


def out_of_time(runs: Sequence[RankRun]) -> bool:
    """Returns whether the deadline ended it while no rank had failed by itself."""
    return any(run.end.timed_out for run in runs) and not any(run.acted for run in runs)

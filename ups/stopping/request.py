"""SIGTERM and SIGUSR1 while a stage trains: noted, answered between two steps with a checkpoint, then the end."""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType
from typing import Any

from ups.errors import AgreedError, UpsError

SIGNALS = (signal.SIGTERM, signal.SIGUSR1)  # a scheduler's: preemption, the end of an allocation
SAVED_EXIT = 75  # sysexits' "try again later"
WORKER_LOST = "DataLoader worker (pid"  # torch.utils.data.dataloader, _try_get_data
SAVED_PHASE = "saved-to-start-again"  # what the doctor's agent is told, so that it knows this 75 from others


def announce_saved() -> None:
    """Tells the doctor's agent, where one watches, that this process's 75 is an answer and no failure."""
    agent = sys.modules.get("_ups_doctor_agent")
    if agent is not None:
        agent.mark(SAVED_PHASE)


class SavedError(AgreedError):
    """All ranks were asked to stop, and did after a checkpoint: the run goes on with --resume."""


class WorkersStoppedError(UpsError):
    """The signal that asked this rank to stop reached its data workers, too: there was no batch left to stop after."""


class StopRequest:
    """Which signal asked to stop, 0 before; outside of its `with` block those signals do what they always do."""

    def __init__(self) -> None:
        self.number = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> StopRequest:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._note) for number in SIGNALS}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, *rest: object) -> None:
        for number, handler in self._before.items():
            # After the checkpoint nothing is to be stopped any more: this rank's own exit code has to arrive.
            saved = kind is not None and issubclass(kind, SavedError)
            signal.signal(number, signal.SIG_IGN if saved else handler)
        if self.number and isinstance(error, RuntimeError) and str(error).startswith(WORKER_LOST):
            # The launcher ends the whole process group of a rank once another has failed: that one's is the cause.
            name = signal.Signals(self.number).name
            raise WorkersStoppedError(f"{name} ended this rank's data workers before its step") from error

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.number = number

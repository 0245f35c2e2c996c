"""The text faulthandler writes when a process dies by a signal."""

from __future__ import annotations

import re
from dataclasses import dataclass

from diagnostics.core.frame import Frame
from diagnostics.core.frame_owners import NOWHERE, Homes
from diagnostics.record.agent_bytes import number, printable

_HEAD = re.compile(r"^(?:Fatal Python error: (.{1,200})|(Timeout \(.{1,40}\))!)$", re.MULTILINE)
_THREAD = re.compile(r"^(Current thread|Thread) 0x([0-9a-fA-F]{1,16}).{0,100}\(most recent call first\):$")
_FRAME = re.compile(r'^  File "(.{0,1000})", line (\d{1,9}|\?\?\?) in (.{1,600})$')


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadStack:
    """One thread, innermost frame first."""

    ident: str
    crashed: bool
    frames: tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultReport:
    """`error` is faulthandler's word for the signal ("Segmentation fault"), or "Timeout (0:00:30)" of a timed dump."""

    error: str
    threads: tuple[ThreadStack, ...]

    @property
    def crashed(self) -> ThreadStack | None:
        """The thread that was running when the signal came; in a timed dump the main thread, which comes last."""
        timed = self.threads[-1] if self.threads and self.error.startswith("Timeout") else None
        return next((thread for thread in self.threads if thread.crashed), timed)


def parse_fault_report(text: str, homes: Homes = NOWHERE) -> FaultReport | None:
    """Returns the last report in `text`, which may hold other output too; None where there is none."""
    heads = list(_HEAD.finditer(text))
    if not heads:
        return None
    head = heads[-1]
    threads: list[tuple[str, bool, list[Frame]]] = []
    for line in text[head.end() :].splitlines():
        if thread := _THREAD.match(line):
            threads.append((thread[2], thread[1] == "Current thread", []))
        elif (frame := _FRAME.match(line)) and threads:
            file, function = printable(frame[1].encode()), printable(frame[3].encode())
            threads[-1][2].append(Frame(file=file, line=number(frame[2]), function=function))
    return FaultReport(
        error=printable((head[1] or head[2]).encode()),
        threads=tuple(
            ThreadStack(ident=i, crashed=crashed, frames=homes.kept(frames)) for i, crashed, frames in threads
        ),
    )

"""What gdb said about a core file: where native code crashed, and the Python line that had called it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from diagnostics.core.frame import Frame
from diagnostics.record.agent_bytes import number, printable

_SIGNAL = re.compile(r"^Program terminated with signal (SIG[A-Z0-9+-]{1,12})", re.MULTILINE)
_NATIVE = re.compile(
    r"^#\d{1,4}\s+(?:0x[0-9a-f]{1,16} in )?(?P<function>.{1,600}?)(?: \(.{0,1500}?\))?"
    r"(?: from (?P<library>/.{1,1000}?)| at (?P<file>.{1,1000}?):(?P<line>\d{1,9}))?$"
)
_PYTHON = re.compile(r'^\s+File "(?P<file>.{1,1000})", line (?P<line>\d{1,9}), in (?P<function>.{1,600})$')
_MOST = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeFrame:
    """One frame of compiled code; `library` is the shared library or the source file, "" where unknown."""

    function: str
    library: str

    @property
    def shown(self) -> str:
        """Returns "libfoo.so: bar"."""
        return f"{self.library.rpartition('/')[2]}: {self.function}" if self.library else self.function


@dataclass(frozen=True, slots=True, kw_only=True)
class GdbReport:
    """The thread that crashed, innermost frame first. `python` is empty where gdb could not read it."""

    signal: str
    native: tuple[NativeFrame, ...]
    python: tuple[Frame, ...]

    @property
    def culprit(self) -> NativeFrame | None:
        """The innermost frame with a name that is not part of raising the signal."""
        raising = ("raise", "abort", "__pthread_kill", "pthread_kill", "kill", "__libc_message", "<signal handler")
        named = (one for one in self.native if one.function != "??" and not one.function.startswith(raising))
        return next((one for one in named if "__GI_" not in one.function), None)


def parse_core_text(text: str) -> GdbReport | None:
    """Returns what captures/core-PID.txt says; None where it holds no frames."""
    head, _, rest = text.partition("=== native")
    native_part, _, python_part = rest.partition("=== python")
    native = [frame for line in native_part.splitlines()[:_MOST] if (frame := _native(line))]
    python = [
        Frame(
            file=printable(match["file"].encode()),
            line=number(match["line"]),
            function=printable(match["function"].encode()),
        )
        for line in python_part.splitlines()
        if (match := _PYTHON.match(line))
    ]
    signal = _SIGNAL.search(head)
    if not native and not python:
        return None
    return GdbReport(signal=signal[1] if signal else "", native=tuple(native), python=tuple(python))


def _native(line: str) -> NativeFrame | None:
    match = _NATIVE.match(line)
    if match is None:
        return None
    library = match["library"] or match["file"] or ""
    return NativeFrame(function=printable(match["function"].encode()), library=printable(library.encode()))

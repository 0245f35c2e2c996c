"""The command line `ups-doctor`, and the only place where errors become sentences and exit codes.

Nothing heavy is imported before `guarded` runs, so that Ctrl-C is a sentence from the first moment on.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import time

from diagnostics.core import stop_signal

TYPE_CHECKING = False  # as of typing, which takes longer to import than all else here
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType
    from typing import NoReturn

    import click

    from diagnostics.core.errors import DoctorError

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SECOND_INTERRUPT_S = 5.0  # a second Ctrl-C within this time does not disturb the cleaning up after the first


def main(*, is_step: bool = False) -> None:
    """Runs `ups-doctor`; as a step of another command that says by itself what has stopped both."""
    leave(guarded(doctor, "ups-doctor", is_step=is_step))


def leave(code: int) -> NoReturn:
    """Ends the process; all is done: during the interpreter's exit a signal would be a death in place of the code."""
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    sys.exit(code)


def doctor() -> click.Group:
    """Returns the command line as a click group."""
    import click

    from diagnostics import commands
    from diagnostics.command_folder import CommandFolder

    group = CommandFolder(
        commands,
        name="ups-doctor",
        help="Finds out why distributed PyTorch training dies, hangs or lies.",
        epilog="Exit codes: 0 nothing found, 1 errors found, 2 wrong use or configuration, 3 undecided.",
    )
    return click.version_option(message=_version(), package_name="ups-doctor")(group)


def _version() -> str:
    """Returns what a bug report has to say of the doctor and what it runs on; click fills in its name and version."""
    on = os.uname()
    python = ".".join(map(str, sys.version_info[:3]))
    return f"%(prog)s, version %(version)s (python {python}, {on.sysname} {on.release} {on.machine})"


def guarded(
    load: Callable[[], click.Command],
    program_name: str,
    arguments: Sequence[str] | None = None,
    *,
    is_step: bool = False,
) -> int:
    """Runs the command that `load` returns and gives its exit code; every known error is one sentence on stderr.

    `load` does the imports. SIGINT, SIGTERM and SIGHUP unwind the command as KeyboardInterrupt, so that its
    children are ended, and give 128 + signal; the command whose step this is (`is_step`) gets the same signal, and says
    so once for both. Other exceptions are faults of the program and pass through.
    """
    _fill_closed_streams()
    stop = _Stop()
    try:
        stop.listen()
        from diagnostics.core.errors import FAILED_EXIT, DoctorError, from_os_error

        return stop.exit_code(_run(load(), program_name, arguments))
    except KeyboardInterrupt:
        return stop.told(is_step=is_step)
    except DoctorError as error:
        _say(error)
        return error.exit_code
    except BrokenPipeError:
        return _reader_has_gone()
    except OSError as error:
        _say(from_os_error(error, action="cannot use" if error.filename else "cannot go on"))
        return FAILED_EXIT
    except Exception as error:
        if _is_of_an_interrupt(error):
            return stop.told(is_step=is_step)
        raise


def _is_of_an_interrupt(error: BaseException) -> bool:
    """Whether a library raised this while a signal's KeyboardInterrupt went through it, as at a half file."""
    before = error.__context__
    return before is not None and (isinstance(before, KeyboardInterrupt) or _is_of_an_interrupt(before))


def _run(command: click.Command, program_name: str, arguments: Sequence[str] | None) -> int:
    import click

    try:
        code = command.main(
            args=list(arguments) if arguments is not None else None, prog_name=program_name, standalone_mode=False
        )
        sys.stdout.flush()
    except click.Abort as abort:  # click's form of Ctrl-C
        raise KeyboardInterrupt from abort
    except click.ClickException as error:
        from diagnostics.core.console import say

        shown = io.StringIO()
        error.show(file=shown)
        say(_without_secrets(shown.getvalue()), err=True, nl=False)
        return error.exit_code
    return code if isinstance(code, int) else 0


def _say(error: DoctorError) -> None:
    from diagnostics.core.console import say

    say(_without_secrets(f"error: {error.message}"), err=True)
    for line in error.hint.splitlines():
        say(_without_secrets(f"  {line}"), err=True)


def _without_secrets(text: str) -> str:
    """Returns a message without secrets: it may repeat what the user wrote, and is pasted into issues."""
    from diagnostics.core import redaction

    return redaction.text(text)


def _fill_closed_streams() -> None:
    """Opens /dev/null as each standard stream that the caller closed: the next file opened would take its number."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)
            if descriptor != number:
                os.dup2(descriptor, number)
                os.close(descriptor)
            setattr(sys, name, open(number, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - a number, for good


def _reader_has_gone() -> int:
    """Ends quietly, as `head` expects of what it reads from."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the interpreter flushes stdout once more at its exit
    return 128 + signal.SIGPIPE


class _Stop:
    """Remembers which signal asked to stop; turns the first into KeyboardInterrupt."""

    def __init__(self) -> None:
        self.seen = float("-inf")

    @property
    def number(self) -> signal.Signals:
        return stop_signal.number()

    @property
    def name(self) -> str:
        return "Ctrl-C" if self.number == signal.SIGINT else self.number.name

    def listen(self) -> None:
        for number in STOP_SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup stays nohup
                signal.signal(number, self._asked)

    def exit_code(self, code: int) -> int:
        """Returns a command's own code; of one that ended in its own way after a signal, the one by that signal."""
        return 128 + self.number if code == 128 + signal.SIGINT else code

    def told(self, *, is_step: bool) -> int:
        """Says what stopped the command; returns its exit code."""
        self.ignore()
        from diagnostics.core.console import say

        if not is_step:
            say(f"interrupted by {self.name}", err=True)
        return 128 + self.number

    def ignore(self) -> None:
        """An impatient second Ctrl-C, during the interpreter's exit, would replace the exit code by a death."""
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_IGN)

    def _asked(self, number: int, frame: FrameType | None) -> None:
        if time.monotonic() - self.seen < SECOND_INTERRUPT_S:
            return
        self.seen = time.monotonic()
        stop_signal.asked(signal.Signals(number))
        raise KeyboardInterrupt

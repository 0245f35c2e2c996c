"""`ups-doctor top [-- CMD | PID | RUN]`: the ranks of a job on one screen, while it runs or as it was recorded."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import click

from diagnostics.attach.find import find_job
from diagnostics.core import redaction, stop_signal
from diagnostics.core.console import say, wants_colour, width_of
from diagnostics.core.errors import DoctorError, UsageError
from diagnostics.core.files import new_folder
from diagnostics.core.shell_quoting import pasteable
from diagnostics.core.wording import hanging
from diagnostics.diagnosis.engine import job_from_record, record_folder
from diagnostics.dynamic.trace.trace_builder import trace_of
from diagnostics.record.record import RunRecord, agents_folder
from diagnostics.record.untrusted_files import read_job
from diagnostics.report.headline import headline, read_verdict
from diagnostics.supervisor.capture.run_folder import REPORTS
from diagnostics.top.live_ranks import LiveRanks
from diagnostics.top.recorded import standings_of
from diagnostics.top.screen import frame
from diagnostics.top.standing import judged

FASTEST_S = 0.2


class WatchedJob(click.Command):
    """Takes everything behind `--` as a command line, which is no PID and no RUN."""

    allow_interspersed_args = False

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Remembers whether `--` was there."""
        ctx.meta["command"] = "--" in args
        return super().parse_args(ctx, args)


@click.command("top", cls=WatchedJob)
@click.option("--every", type=click.FloatRange(FASTEST_S), default=1.0, show_default=True, metavar="SECONDS",
              help="Time between two looks.")  # fmt: skip
@click.option("--once", is_flag=True, help="Print one screen as text and end; so where stdout is no terminal.")
@click.option("--no-colour", is_flag=True, help="As NO_COLOR=1.")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[PID | RUN | -- CMD [ARGS]...]")
@click.pass_context
def command(context: click.Context, words: tuple[str, ...], every: float, once: bool, no_colour: bool) -> None:
    """Shows one row a rank: step, steps a second, share of waiting for data, CPU, memory, module, last collective.

    Who holds the others up is on top. PID is any process of a job that runs under the doctor, RUN a folder of
    `ups-doctor run`, running or recorded (default: the latest). CMD is run under the doctor; its output is kept in the
    record. Ctrl-C leaves; of CMD it ends the job. Exit code: 0 shown, 2 nothing to show, that of CMD.
    """
    screen = _Screen(every, once=once or not sys.stdout.isatty(), colour=wants_colour() and not no_colour)
    if context.meta["command"]:
        context.exit(_of_command(words, screen))
    if "" in words:
        raise UsageError("what to show is an empty word: a variable that is not set?")
    if len(words) > 1:
        raise UsageError("top shows one job", hint="name a PID or a folder, or a command behind --")
    if words and words[0].isdigit() and not Path(words[0]).exists():
        _of_pid(int(words[0]), screen)
    else:
        _of_folder(Path(words[0]) if words else _latest(), screen)


class _Screen:
    """Draws until the job has ended, or once."""

    def __init__(self, every_s: float, *, once: bool, colour: bool) -> None:
        self._every_s, self.once, self._colour = every_s, once, colour

    def follow(self, ranks: LiveRanks, what: str, state: Callable[[], str]) -> None:
        """Shows the ranks until `state` says nothing more."""
        if self.once:
            ranks.look()
            time.sleep(self._every_s)  # a share of a CPU needs two looks
            self.show(ranks, what, state() or "ended")
            return
        from rich.live import Live
        from rich.text import Text

        with Live(screen=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False) as live:
            while said := state():
                live.update(Text.from_ansi("\n".join(self._lines(ranks, what, said)), no_wrap=True), refresh=True)
                time.sleep(self._every_s)

    def show(self, ranks: LiveRanks, what: str, state: str) -> None:
        """Prints one screen."""
        say("\n".join(self._lines(ranks, what, state)), colour=self._colour)

    def recorded(self, record: RunRecord, what: str) -> None:
        """Prints how a recorded run stood at its end."""
        trace = trace_of(job_from_record(record), folded=False)
        state = f"recorded, {trace.until_s:.1f} s"
        standings = judged(standings_of(trace))
        size = shutil.get_terminal_size((80, 24))
        height = 10_000 if not sys.stdout.isatty() else max(24, size.lines)
        say("\n".join(frame(standings, what, state, width=size.columns, height=height, colour=self._colour)),
            colour=self._colour)  # fmt: skip

    def _lines(self, ranks: LiveRanks, what: str, state: str) -> list[str]:
        size = shutil.get_terminal_size((80, 24))
        standings = judged(ranks.look())
        return frame(standings, what, state, width=size.columns, height=size.lines, colour=self._colour)


def _of_pid(pid: int, screen: _Screen) -> None:
    job = find_job(pid)
    folders = {row.variables["UPS_DOCTOR_DIR"] for row in job.members if row.variables.get("UPS_DOCTOR_DIR")}
    if not folders:
        raise DoctorError(
            f"the job of pid {pid} does not run under the doctor, so nothing counts its steps",
            hint=f"see where it stands: ups-doctor stacks {pid}; run the next one by ups-doctor top -- CMD",
            exit_code=2,
        )
    began, what = time.monotonic(), redaction.line(shlex.join(job.tops[0].argv))

    def state() -> str:
        lives = any(Path(f"/proc/{row.pid}").exists() for row in job.members)
        return f"looked at for {time.monotonic() - began:.0f} s" if lives else ""

    screen.follow(LiveRanks(Path(sorted(folders)[0])), what, state)


def _of_folder(run: Path, screen: _Screen) -> None:
    folder = record_folder(run)
    facts, _ = read_job(folder / "job.json")
    if facts is None or facts.ended_s is not None or facts.ended_by != "itself":
        record = RunRecord.load(folder)
        if record.job is None and not record.agents:
            raise UsageError(f"{run} holds no record of a job", hint="name the folder of a run: reports/<time>-run/")
        screen.recorded(record, redaction.line(shlex.join(record.job.command)) if record.job else str(run))
        return

    def state() -> str:
        now, _ = read_job(folder / "job.json")
        return "" if now is None or now.ended_s is not None else f"{(time.time_ns() - now.started_ns) / 1e9:.0f} s"

    screen.follow(LiveRanks(agents_folder(folder)), redaction.line(shlex.join(facts.command)), state)


def _of_command(words: Sequence[str], screen: _Screen) -> int:
    """Runs a command under the doctor, whose screen this is; returns its exit code."""
    if not words:
        raise UsageError("no command to run", hint="for example: ups-doctor top -- torchrun train.py")
    folder = new_folder(REPORTS, kind="run")
    own = [sys.executable, "-c", "from diagnostics.cli import main; main()"]
    argv = [*own, "run", "--quiet", "--report-dir", str(folder), "--", *words]
    job = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    began, what = time.monotonic(), redaction.line(shlex.join(words))
    try:
        if screen.once:
            job.wait()
        else:
            state = lambda: f"{time.monotonic() - began:.0f} s" if job.poll() is None else ""  # noqa: E731 - one line
            screen.follow(LiveRanks(folder / "record" / "agents"), what, state)
    except KeyboardInterrupt:
        _pass_on(job)
        code = _ended(job)
        if not (folder / "report.json").is_file():  # its doctor was still starting
            raise
    code = _ended(job)
    if screen.once and (folder / "record").is_dir():
        screen.recorded(RunRecord.load(folder / "record"), what)
    _tell(folder)
    return code


def _ended(job: subprocess.Popen[bytes]) -> int:
    """Waits for the job's doctor, which ends the job and reports; returns its exit code."""
    while True:
        try:
            return job.wait()
        except KeyboardInterrupt:
            _pass_on(job)


def _pass_on(job: subprocess.Popen[bytes]) -> None:
    """Sends the signal that came to us; where a terminal sent it to both, the job's doctor takes the two for one."""
    with suppress(ProcessLookupError):
        job.send_signal(stop_signal.number())


def _tell(folder: Path) -> None:
    """Says what the report says."""
    with suppress(OSError, ValueError):
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        verdict = read_verdict(report)
        width = width_of()
        told = [("", f"ups-doctor: {headline(verdict)}")]
        told += [("  ", str(report.get(name) or "")) for name in ("root_cause", "fix")]
        told += [("  ", str(note)) for note in list(report.get("notes") or ())[:1]]
        for label, said in told:
            say("\n".join(hanging(label, redaction.line(said), width)) if said else "", nl=bool(said))
    say(f"  report: {pasteable(folder / 'report.md')}")


def _latest() -> Path:
    found = [(path.stat().st_mtime, path.parent) for path in REPORTS.glob("*/record/job.json")]
    if not found:
        raise UsageError(f"no run below {REPORTS.absolute()}", hint="name a PID or a folder, or a command behind --")
    return max(found)[1].parent

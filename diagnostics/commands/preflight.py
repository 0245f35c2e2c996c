"""`ups-doctor preflight [CONFIG]`: proves before the run that this machine can train it."""

from __future__ import annotations

import os
import shlex
import shutil
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from diagnostics import preflight
from diagnostics.adapter import describe, interpreter
from diagnostics.argument_types import PathArgument
from diagnostics.bisection.from_preflight import model_fails, run_bisection
from diagnostics.command_folder import ScriptCommand
from diagnostics.core import redaction
from diagnostics.core.console import say
from diagnostics.core.errors import UsageError, from_os_error
from diagnostics.core.findings import Status, Verdict
from diagnostics.core.shell_quoting import pasteable
from diagnostics.core.stop_signal import interrupted_exit
from diagnostics.core.thresholds import Thresholds, find, read_thresholds
from diagnostics.hosts.host_table import HEAD, host_rows, table_lines
from diagnostics.hosts.launcher import Launched, launched
from diagnostics.hosts.meeting import serve_first_host
from diagnostics.hosts.opening import survey_of_file, survey_of_launch
from diagnostics.hosts.starting import BY_SSH
from diagnostics.hosts.survey import Survey, SurveySettings
from diagnostics.machine.this import open_machine
from diagnostics.preflight import baseline
from diagnostics.preflight.engine import PreflightInterrupted, default_stages, run_preflight
from diagnostics.preflight.hosts_sentence import hosts_sentence
from diagnostics.preflight.live_screen import LiveScreen
from diagnostics.preflight.plan import (
    STAGES_OF_A_JOB,
    Probe,
    in_order,
    load_probes,
    parse_skips,
    parse_stages,
)
from diagnostics.preflight.probe import PreflightConfig, Stage
from diagnostics.preflight.setup import settle
from diagnostics.report import terminal
from diagnostics.report.check_report import CheckReport
from diagnostics.report.place import ReportPlace, open_place

MOST_HOSTS_SHOWN = 16  # of more, those that something was found about


@click.command("preflight", cls=ScriptCommand)
@click.argument("config", required=False, type=PathArgument())
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override one key of CONFIG.")
@click.option("--nproc", type=click.IntRange(1), help="Ranks; default: what CONFIG says, the GPUs, else 2.")
@click.option("--backend", type=click.Choice(["auto", "nccl", "gloo"]), help="Default: what CONFIG says, else auto.")
@click.option("--stages", metavar="A,B", help="Only these stages, in their fixed order.")
@click.option("--skip", multiple=True, metavar="CODE|STAGE", help="Leave out a check or a stage; may be repeated.")
@click.option("--hosts", metavar="FILE|env", help="Compare these hosts, `name [address]` a line, or the launcher's.")
@click.option("--remote", default=BY_SSH, show_default=True, help="How a shell is started on a host of --hosts.")
@click.option("--data", "data", multiple=True, metavar="PATH", help="Data that all hosts must have; may be repeated.")
@click.option("--list", "list_only", is_flag=True, help="List the checks that would run, and stop.")
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as JSON on stdout, and nothing else.")
@click.option("--report-dir", type=PathArgument(), default=Path("reports"), show_default=True)
@click.option("--python", metavar="PATH", help="The job's Python; default: this one if it has torch, else the active.")
@click.option("--thresholds", type=PathArgument(), help="Default: configs/doctor.yaml or doctor.yaml.")
@click.option("--strict", is_flag=True, help="Warnings count as errors.")
@click.option("--bisect", "bisects", is_flag=True, help="Bisect a model that fails: ups-doctor bisect-model CONFIG.")
@click.option("-v", "--verbose", is_flag=True, help="Show measurements, seconds and tracebacks too.")
@click.option(
    "--script",
    multiple=True,
    metavar="TRAIN.PY [ARGS]...",
    help="Your own launch line instead of a CONFIG; everything behind it belongs to it.",
)
@click.pass_context
def command(context: click.Context, /, config: Path | None, **options: Any) -> None:
    """Checks that this machine can train CONFIG (or your script) before you start it.

    Without CONFIG it checks the machine alone; with --hosts, or under srun or mpirun, several hosts against each other.
    Writes REPORT_DIR/<time>-preflight/report.md.
    Exit codes: 0 nothing found, 1 errors found, 2 wrong use or CONFIG, 3 a check crashed or gave no answer.
    """
    _refuse_contradictions(config, options)
    known, _ = load_probes(preflight)
    run = _launch(config, options)
    several = run is not None or bool(options["hosts"])
    stages = _stages(config, options, several=several)
    skip = parse_skips([name for words in options["skip"] for name in words.split(",")], known)
    if options["list_only"]:
        everything = config is None and not options["script"] and options["stages"] is None and not several
        for line in _listed(known, tuple(Stage) if everything else stages, skip, has_job=config is not None):
            say(line)
        return
    thresholds = read_thresholds(options["thresholds"])
    if run is not None and (run.number or not run.takes_part):  # the first task of the first host asks all of them
        context.exit(serve_first_host(run, within_s=thresholds.hosts_answer_s) if run.takes_part else 0)
    python = interpreter.choose(options["python"], os.environ)
    started = time.strftime("%Y-%m-%dT%H:%M:%S%z")
    with ExitStack() as stack:
        machine = stack.enter_context(open_machine(python))
        screen = stack.enter_context(LiveScreen(quiet=options["as_json"], verbose=options["verbose"]))
        screen.say(f"preflight of {_subject(config, options, run)}, python {python}")
        described = None
        if config is not None:
            screen.waiting_for(f"asking the trainer about {config}")
            described = describe.describe(config, options["overrides"], python=python, child=machine.child)
        if several:
            screen.waiting_for("waiting for the hosts")
        survey = stack.enter_context(_survey(run, options, python, thresholds)) if several else None
        place = open_place(options["report_dir"])
        settled = settle(
            machine,
            python=python,
            record_dir=place.folder,
            thresholds=thresholds,
            described=described,
            nproc=options["nproc"],
            backend=options["backend"],
            script=options["script"] or None,
            reports=options["report_dir"],
            hosts=survey,
        )
        stopped = None
        try:
            verdict = run_preflight(settled, machine, screen, stages, skip)
        except PreflightInterrupted as stop:
            verdict, stopped = stop.verdict, stop
        machine.close()  # before anything is written: a full disk must not leave a child behind
        report = _report(context, verdict, settled, started, options, run, interrupted=stopped is not None)
        _finish(screen, place, report, settled, options)
    if stopped is not None:
        raise stopped
    if options["bisects"] and config is not None and model_fails(verdict):
        run_bisection(config, settled, options["report_dir"], json=options["as_json"])
    context.exit(report.exit_code)


def _refuse_contradictions(config: Path | None, options: dict[str, Any]) -> None:
    if config is not None and options["script"]:
        raise UsageError("CONFIG and --script exclude each other: a CONFIG's trainer starts its own ranks")
    if config is not None and config.suffix in (".py", ".sh"):
        raise UsageError(
            f"{config} is a program, and a configuration is expected there",
            hint=f"ups-doctor preflight --script {pasteable(config)}",
        )
    if options["hosts"] and (config is not None or options["script"]):
        raise UsageError("--hosts compares hosts, whatever the job: leave CONFIG and --script to a second call")
    if (options["data"] or options["remote"] != BY_SSH) and not options["hosts"] and config is not None:
        raise UsageError("--data and --remote need --hosts")
    if options["bisects"] and config is None:
        raise UsageError(
            "--bisect needs a CONFIG", hint="for a model of your own: ups-doctor bisect-model module:factory"
        )
    if config is None and options["overrides"]:
        raise UsageError("--set needs a CONFIG whose keys it overrides")
    if options["script"] and shutil.which(options["script"][0]) is None and not Path(options["script"][0]).is_file():
        raise UsageError(
            f"--script {options['script'][0]}: no such file or program", hint="check the spelling: ls -l *.py"
        )


def _launch(config: Path | None, options: dict[str, Any]) -> Launched | None:
    """Returns this task's place among several hosts; a CONFIG, a script or stages of one host are that host's own."""
    asked = options["hosts"] == "env"
    if options["hosts"] and not asked:
        return None
    if not asked and (config is not None or options["script"] or options["stages"] or options["list_only"]):
        return None
    return launched(os.environ, asked=asked)


def _survey(
    run: Launched | None, options: dict[str, Any], python: str, thresholds: Thresholds
) -> AbstractContextManager[Survey]:
    settings = SurveySettings(
        python=python,
        folder=str(Path.cwd()),
        data=tuple(str(Path(path).absolute()) for path in options["data"]),
        slower=thresholds.slower_than_other_pairs,
    )
    if run is not None:
        return survey_of_launch(run, settings, within_s=thresholds.hosts_answer_s)
    return survey_of_file(
        Path(options["hosts"]), settings, template=options["remote"], within_s=thresholds.hosts_answer_s
    )


def _stages(config: Path | None, options: dict[str, Any], *, several: bool) -> tuple[Stage, ...]:
    stages = parse_stages(filter(None, options["stages"].split(","))) if options["stages"] is not None else None
    if stages is None:
        return default_stages(has_job=config is not None, has_script=bool(options["script"]), has_hosts=several)
    if not stages:
        raise UsageError("--stages needs at least one stage", hint=f"stages: {', '.join(Stage)}")
    needy = [stage for stage in stages if stage in STAGES_OF_A_JOB and config is None]
    if needy:
        raise UsageError(f"stage '{needy[0]}' needs a CONFIG", hint=f"ups-doctor preflight CONFIG --stages {needy[0]}")
    if Stage.HOSTS in stages and not several:
        raise UsageError("stage 'hosts' needs several hosts", hint="ups-doctor preflight --hosts FILE")
    return stages


def _listed(
    known: Sequence[Probe], stages: Collection[Stage], skip: Collection[str], *, has_job: bool
) -> Iterator[str]:
    for probe in in_order(known):
        if probe.stage in stages and probe.code not in skip:
            needs = [*(["a CONFIG"] if probe.stage in STAGES_OF_A_JOB and not has_job else []), *probe.requires]
            after = f" (needs {', '.join(needs)})" if needs else ""
            yield f"{probe.code}  {probe.stage:<12}{probe.title}{after}"


def _subject(config: Path | None, options: dict[str, Any], run: Launched | None) -> str:
    if run is not None:
        return f"{run.hosts} hosts that {run.launcher} has started this on"
    if options["hosts"]:
        return f"the hosts of {options['hosts']}"
    if config is not None:
        return str(config)
    return redaction.line(shlex.join(options["script"])) if options["script"] else "this machine, no CONFIG"


def _report(
    context: click.Context,
    verdict: Verdict,
    settled: PreflightConfig,
    started: str,
    options: dict[str, Any],
    run: Launched | None,
    *,
    interrupted: bool,
) -> CheckReport:
    system = os.uname()
    return CheckReport(
        verdict=verdict,
        command=shlex.join(["ups-doctor", "preflight", *context.meta["arguments"]]),
        started=started,
        doctor_version=version("ups-doctor"),
        exit_code=interrupted_exit() if interrupted else verdict.exit_code(strict=options["strict"]),
        facts={
            "examined": _subject(context.params["config"], options, run),
            "ranks": str(settled.nproc),
            "backend": settled.backend,
            "python": settled.python,
            "thresholds": str(find(options["thresholds"]) or "built in"),
            "machine": f"{system.nodename}, {system.sysname} {system.release} {system.machine}",
            "folder": str(Path.cwd()),
        },
        variables=redaction.environment(os.environ),
        interrupted=interrupted,
        sentence=hosts_sentence(verdict, len(settled.hosts.hosts)) if settled.hosts is not None else "",
        hosts=(HEAD, *host_rows(settled.hosts, verdict)) if settled.hosts is not None else (),
    )


def _finish(
    screen: LiveScreen, place: ReportPlace, report: CheckReport, settled: PreflightConfig, options: dict[str, Any]
) -> None:
    verdict, reports = report.verdict, options["report_dir"]
    written = place.write(report)
    if not place.problem and not report.interrupted and settled.hosts is None:
        try:
            baseline.remember(reports, baseline.key(settled.nproc, settled.backend), verdict)
        except OSError as error:
            screen.say(from_os_error(error, action="cannot keep the measurements in", path=reports).message)
    if options["as_json"]:
        say(terminal.verdict_json(verdict, exit_code=report.exit_code, command=report.command))
    elif verdict.outcomes:
        say()
    if report.hosts and not options["as_json"]:
        for line in [*table_lines([*report.hosts[1:]], MOST_HOSTS_SHOWN), "", report.sentence, ""]:
            say(redaction.line(line))
    ran = sum(outcome.status is not Status.SKIPPED for outcome in verdict.outcomes)
    subject = f"interrupted after {ran} of {len(verdict.outcomes)} checks" if report.interrupted else ""
    screen.say(terminal.summary_line(verdict, subject=subject))
    screen.say(written)

"""`ups-doctor run -- CMD`: runs any training job as it is, and says on one page why it died or lied."""

from __future__ import annotations

from typing import Any

import click

from diagnostics.argument_types import PathArgument
from diagnostics.core.errors import UsageError
from diagnostics.core.spelling import nearest
from diagnostics.supervisor.background_services import Wish
from diagnostics.supervisor.capture.run_folder import REPORTS
from diagnostics.supervisor.supervise import WatchOptions, run_preflight, watch

ERRORS_FOUND, WRONG_USE = 1, 2
ABORTING = ("silent-wrong", "slow")


class JobCommand(click.Command):
    """Takes everything behind `--`, or from the first word that is no option, as the job's command line."""

    allow_interspersed_args = False


@click.command("run", cls=JobCommand)
@click.argument("job", nargs=-1, type=click.UNPROCESSED, metavar="-- CMD [ARGS]...")
@click.option("--report-dir", type=PathArgument(), metavar="DIR", help="Default: reports/<time>-run/.")
@click.option(
    "--share",
    type=PathArgument(),
    metavar="DIR",
    help="Copy report and record there, for one page over all hosts.",
)
@click.option(
    "--stall-timeout",
    type=click.FloatRange(1.0),
    default=1800.0,
    show_default=True,
    metavar="SECONDS",
    help="End a job that makes no progress for so long; before its first step, work (CPU, files) counts as progress.",
)
@click.option("--no-kill", is_flag=True, help="Never end a job that makes no progress.")
@click.option("--strict", is_flag=True, help="Exit with 70 where the job says success and is wrong.")
@click.option(
    "--abort-on",
    metavar="OUTCOME[,OUTCOME]",
    default="",
    help="End the job with 70 as soon as it is sure to be: silent-wrong, slow.",
)
@click.option("--backend-debug", is_flag=True, help="Have torch and NCCL log what they do, apart by rank; slow.")
@click.option("--preflight", is_flag=True, help="Check the machine and CMD first; stop at errors.")
@click.option("--deep", is_flag=True, help="Also name modules in backward; costs up to 7 % of short steps.")
@click.option("--locals", "local_values", is_flag=True, help="Record local values where an exception passed.")
@click.option("--keep-background", is_flag=True, help="End nothing that CMD leaves running when it ends.")
@click.option("--end-background", is_flag=True, help="End all that CMD leaves running, services too.")
@click.option("--quiet", is_flag=True, help="Print nothing beside what the job prints.")
@click.pass_context
def command(context: click.Context, /, job: tuple[str, ...], **options: Any) -> None:
    """Runs CMD unchanged and watches it.

    Writes report.md, report.json and record/ into reports/<time>-run/ or --report-dir DIR. The exit code is the job's
    own, unless it was wrong: 128+N for a crash by signal N, 70 for a crash that the job hid, 124 for a hang.
    """
    if not job:
        example = "ups-doctor run -- torchrun --nproc-per-node 2 train.py"
        raise UsageError("no command to run", hint=f"for example: {example}")
    if not job[0]:
        raise UsageError("the command is an empty word: a variable that is not set?")
    if options["keep_background"] and options["end_background"]:
        raise UsageError("--keep-background and --end-background exclude each other")
    _outcomes(options["abort_on"])
    if options["preflight"]:
        code = run_preflight(job, REPORTS)
        if code in (ERRORS_FOUND, WRONG_USE) or code >= 128:
            context.exit(code)
    wanted = WatchOptions(
        report_dir=options["report_dir"],
        share=options["share"],
        stall_timeout_s=options["stall_timeout"],
        kill=not options["no_kill"],
        strict=options["strict"],
        abort_on=_outcomes(options["abort_on"]),
        backend_debug=options["backend_debug"],
        deep=options["deep"],
        local_values=options["local_values"],
        background=_background(options),
        quiet=options["quiet"],
    )
    context.exit(watch(job, wanted))


def _outcomes(text: str) -> tuple[str, ...]:
    """Returns the outcomes of --abort-on. Raises UsageError for others."""
    wanted = tuple(word.strip() for word in text.split(",") if word.strip())
    for word in wanted:
        if word not in ABORTING:
            raise UsageError(
                f"--abort-on {word!r} is no outcome of a job that runs{nearest(word, ABORTING)}",
                hint=f"known: {', '.join(ABORTING)}",
            )
    return wanted


def _background(options: dict[str, Any]) -> Wish:
    return "all stay" if options["keep_background"] else "all end" if options["end_background"] else "services stay"

"""One run from the outside: what is checked before any rank starts, the launch, and what is said at the end."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ups.config import UpsConfig
from ups.data import ram_disk
from ups.data.fields import FieldSpec, open_data
from ups.data.pairing import pairing_of
from ups.data.sampler import check_enough
from ups.data.several.problems import problems
from ups.data.several.task_sampler import check_epochs, check_together
from ups.data.splits import split_samples
from ups.errors import UpsError, naming
from ups.launch import claims
from ups.launch.before_data import check_configuration
from ups.launch.elastic import Launched, launch
from ups.launch.reports import RankReport, first_failure
from ups.models.fit import check_model
from ups.run_folder import RunFolder
from ups.stopping.request import announce_saved
from ups.tracking.beside import Beside

if TYPE_CHECKING:  # it imports what draws bars
    from ups.progress import Log


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the command line asked for."""

    config: UpsConfig
    path: Path
    overrides: tuple[str, ...]
    stages: tuple[str, ...]
    resume: bool = False
    nproc: int | None = None
    max_restarts: int = 0
    log: Log = "auto"


def as_rank(request: Request, environ: Mapping[str, str] = os.environ) -> int:
    """Takes part in a job that torchrun started; returns this rank's exit code."""
    from ups.distributed import place_number
    from ups.launch import rank

    if environ.get("TORCHELASTIC_RUN_ID"):  # of ranks started by hand the parent may be a shell that has ended
        rank.end_with_launcher()
    place, size = place_number(environ, "RANK"), place_number(environ, "WORLD_SIZE")
    folder = RunFolder(request.config.output.dir)
    if place == 0 and claims.is_restart(folder.root, environ):
        request = replace(request, resume=True)
    if place == 0:
        print(f"RANK is set: started by a launcher, taking part as one of its {size} ranks", file=sys.stderr)  # noqa: T201
        prepare(request, size)
        claims.write(folder.root, environ)
    hints = naming(request.path, request.overrides)
    beside = Beside(request.config, environ) if place == 0 else None

    def ended(report: RankReport, code: int) -> None:
        if beside is None:
            return
        _tell(beside.finish(code))
        if report.state == "finished":  # and so have all others: their group has met for the last time
            print(completed(report, size, request), flush=True)  # noqa: T201

    return rank.run(request.config, request.stages, resume=request.resume, hints=hints, log=request.log, ended=ended)


def train(request: Request, say: Callable[[str], None], before_start: Callable[[int], None]) -> None:
    """Checks, launches, waits, and says "completed" once every rank has reported its steps and exited 0.

    `before_start` is called with the number of ranks when the request itself is in order, and may refuse.
    Raises UpsError with the exit code of the rank that failed first.
    """
    nproc = examine(request, before_start)
    prepare(request, nproc)
    beside, code = Beside(request.config), 1
    try:
        launched = _launched(request, nproc, say)
        line, code = completed(launched.reports[0], len(launched.ended), request), 0
    except UpsError as error:
        code = error.exit_code
        raise
    finally:
        _tell(beside.finish(code))
    say(line)


def _tell(lines: Sequence[str]) -> None:
    for line in lines:
        print(line, file=sys.stderr)  # noqa: T201


def _launched(request: Request, nproc: int, say: Callable[[str], None]) -> Launched:
    """Launches, again from the last checkpoint where ranks failed and the request allows it; returns what completed."""
    training = request.config.training
    for restarts in range(request.max_restarts + 1):
        again = replace(request, resume=request.resume or restarts > 0)
        try:
            launched = launch(rank_argv(again), nproc, port=training.port, threads=training.threads_per_rank)
        finally:
            _clean_ram_disk(request.config)
        if launched.completed:
            return launched
        refused = any(report.refused for report in launched.reports)
        if refused and not again.resume:
            RunFolder(request.config.output.dir).release()
        failed = failure(launched, request)
        if refused or launched.stopped_by or launched.saved or restarts == request.max_restarts:
            raise failed
        kept = RunFolder(request.config.output.dir).saved()
        place = f"from {kept[0].name}" if kept else "from the beginning"
        say(f"{failed.message}: restart {restarts + 1} of {request.max_restarts}, {place}")
    raise AssertionError  # the last round returns or raises


def _clean_ram_disk(config: UpsConfig) -> None:
    """Removes what killed ranks left in memory; a copy that another run reads stays."""
    place = ram_disk.place_of(config.cache.ram_disk)
    if place is None:
        return
    try:
        ram_disk.clean(place)
    except (OSError, UpsError) as error:
        print(f"the latent cache's copy in {place} could not be removed: {error}", file=sys.stderr)  # noqa: T201


def examine(request: Request, before_start: Callable[[int], None]) -> int:
    """Checks the request, then what `before_start` looks at; returns the number of ranks. Writes nothing."""
    nproc = request.nproc or request.config.training.nproc or visible_gpus() or 2
    check(request, nproc)
    before_start(nproc)
    return nproc


def rank_argv(request: Request) -> list[str]:
    """Returns the arguments of python for one rank of this request."""
    argv = ["-m", "ups.launch.rank", str(request.path), "--stages", ",".join(request.stages)]
    for override in request.overrides:
        argv += ["--set", override]
    argv += ["--log", request.log]
    return argv + (["--resume"] if request.resume else [])


def check(request: Request, nproc: int) -> None:
    """Raises ConfigError or DataError for what is wrong before anything is written or started."""
    config, folder = request.config, RunFolder(request.config.output.dir)
    config = replace(config, stages=replace(config.stages, run=request.stages))  # type: ignore[arg-type]  # they are
    gpus = config.training.backend != "gloo" and visible_gpus() > 0
    ours = not os.environ.get("TORCHELASTIC_RUN_ID")
    check_configuration(config, request.stages, nproc, gpus=gpus, port=config.training.port if ours else None)
    folder.check_place()
    if request.resume:
        folder.check_unchanged(request.config)
    else:
        folder.check_free(stage=request.stages[0] if len(request.stages) == 1 else "")
    folder.check_earlier(request.stages)
    specs = {task: _checked_problem(one, request, nproc) for task, one in problems(config).items()}
    if config.data.tasks:
        check_together(config, specs)
        check_epochs(config, specs, request.stages)


def _checked_problem(config: UpsConfig, request: Request, nproc: int) -> FieldSpec:
    spec = open_data(config.data)
    train_samples = len(split_samples(spec.samples, config.data).train)
    check_enough(train_samples * max(1, spec.frames - 1), min(settings_batches(config, request.stages)), nproc)
    if "operator" in request.stages:
        pairing_of(config.objective, spec)
    check_model(config, spec)
    return spec


def prepare(request: Request, nproc: int) -> None:
    """Checks, then makes the output folder this run's own."""
    check(request, nproc)
    if not request.resume:
        RunFolder(request.config.output.dir).claim(request.config)


def settings_batches(config: UpsConfig, stages: Sequence[str]) -> list[int]:
    """Returns the global batch of each stage."""
    return [getattr(config.stages, name).batch_size for name in stages]


def visible_gpus() -> int:
    """Returns how many GPUs torch can use here; no CUDA context is made."""
    import torch

    return torch.cuda.device_count()


def failure(launched: Launched, request: Request) -> UpsError:
    """Returns the one sentence for a run that did not complete, naming the rank that failed first."""
    kept = RunFolder(request.config.output.dir).saved()
    again = f"--resume goes on from {kept[0]}" if kept else ""
    if launched.saved:
        announce_saved()
        return UpsError(launched.saved, hint=launched.reports[0].hint, exit_code=launched.exit_code)
    if launched.stopped_by:
        return UpsError(
            f"stopped by signal {launched.stopped_by}: all ranks were ended",
            hint=again,
            exit_code=launched.exit_code,
        )
    first = first_failure(launched.ended)
    if first is None:
        silent = [str(one.rank) for one in launched.ended if one.report is None or one.report.state != "finished"]
        what = (
            f"rank {', '.join(silent)} exited 0 without having finished" if silent else "the ranks' step counts differ"
        )
        return UpsError(f"{what}: the run is not complete", hint=again, exit_code=1)
    report = first.report
    if first.code < 0:
        meaning = " (the kernel's memory killer, or somebody's kill -9)" if first.code == -9 else ""
        message = f"rank {first.rank} was killed by signal {-first.code}{meaning}, the other ranks were ended"
    elif report is not None and report.error:
        message = report.error
    else:
        message = f"rank {first.rank} ended with exit code {first.code} without a report"
    hint = (report.hint if report is not None else "") or again
    return UpsError(message, hint=hint, exit_code=launched.exit_code)


def completed(report: RankReport, ranks: int, request: Request) -> str:
    """Returns the last line of a run that completed; `report` is one rank's, the others have made the same steps."""
    folder = RunFolder(request.config.output.dir)
    trained = [folder.trained(name) for name in reversed(request.stages)]
    made = next((path for path in trained if path.exists()), folder.root)
    failures = report.result.get("checkpoints", {}).get("failures", [])
    many = f"{len(failures)} checkpoint{'s' * (len(failures) > 1)} could not be written"
    lost = f"; {many}, the first: {failures[0]}" if failures else ""
    steps = f"{report.steps} step{'s' * (report.steps > 1)}{' each' * (ranks > 1)}"
    all_made = steps if report.steps else "no step was left to make"
    return f"completed: {ranks} rank{'s' * (ranks > 1)}, {all_made}; {made}{lost}"

"""Runs the steps of a pipeline in their order, and believes none of them: success is what was read back."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from diagnostics.api import DoctorError, UsageError
from ups.config import UpsConfig
from ups.errors import ConfigError, UpsError
from ups.pipeline.artefacts import read_back
from ups.pipeline.state import PipelineState, StepState, digest_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """What a pipeline is run for."""

    config: UpsConfig
    path: Path
    overrides: tuple[str, ...]

    @property
    def folder(self) -> Path:
        """Where the pipeline keeps its own files."""
        return self.config.output.dir / "pipeline"

    @property
    def settings(self) -> list[str]:
        """The overrides as a command line has them."""
        return [word for override in self.overrides for word in ("--set", override)]


@dataclass(frozen=True, slots=True)
class Made:
    """What a step says in one line, and the files it made."""

    said: str
    artefacts: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One step. `what` says what it does; it may refuse by raising an UpsError."""

    name: str
    what: str
    work: Callable[[Experiment], Made]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which steps are wanted."""

    start: str | None = None  # it and all after it are done again
    until: str | None = None
    skipped: Collection[str] = ()


def plan(steps: Sequence[Step], state: PipelineState, choice: Choice) -> list[tuple[Step, str]]:
    """Returns each wanted step with what is to become of it: run, done or skipped. Raises ConfigError."""
    names = [step.name for step in steps]
    first = names.index(choice.start) if choice.start is not None else None
    last = names.index(choice.until) if choice.until is not None else len(steps) - 1
    if first is not None and first > last:
        raise ConfigError(f"--from {choice.start} comes after --until {choice.until}")
    planned, again = [], False
    for place, step in enumerate(steps[: last + 1]):
        if step.name in choice.skipped:
            planned.append((step, "skipped"))
        elif first is not None and place < first:
            if not state.is_done(step.name) and state.steps.get(step.name, StepState("failed")).outcome != "skipped":
                raise ConfigError(
                    f"--from {choice.start} needs step {step.name}, which is not done", hint="leave out --from"
                )
            planned.append((step, "done"))
        else:
            again = again or place == first or not state.is_done(step.name)
            planned.append((step, "run" if again else "done"))
    return planned


def run(steps: Sequence[Step], experiment: Experiment, choice: Choice, say: Callable[[str], None]) -> None:
    """Runs what is planned. Raises UpsError with the name of the step that failed and its exit code."""
    state = PipelineState.load(experiment.folder / "state.json")
    digest = digest_of(experiment.config)
    if state.config != digest:
        state.steps.clear()  # of another configuration: nothing of it holds
        state.config = digest
    planned = plan(steps, state, choice)
    for number, (step, what) in enumerate(planned, start=1):
        place = f"[{number}/{len(planned)}] {step.name}"
        if what == "done":
            say(f"{place}: done before")
            continue
        if what == "skipped":
            state.steps[step.name] = StepState("skipped")
            say(f"{place}: skipped")
            continue
        say(f"{place}: {step.what}")
        _run(step, experiment, state)
        say(f"{place}: {state.steps[step.name].said} ({state.steps[step.name].seconds:.1f} s)")
    missing = [problem for name in state.steps for problem in _unreadable(state, name)]
    if missing:
        raise UpsError(
            f"the pipeline is not complete: {missing[0]}", hint="run it again: what is missing is made again"
        )


def _run(step: Step, experiment: Experiment, state: PipelineState) -> None:
    began = time.monotonic()
    try:
        made = step.work(experiment)
    except DoctorError as error:
        seconds, is_usage = time.monotonic() - began, isinstance(error, UsageError)
        state.steps[step.name] = StepState("failed", seconds, error.exit_code, error.message)
        state.save()
        raise UpsError(
            f"the pipeline stopped in step {step.name} with exit code {error.exit_code}: {error.message}",
            hint=error.hint or (f"run the same command again: it goes on with step {step.name}" * (not is_usage)),
            exit_code=error.exit_code,
        ) from error
    seconds = time.monotonic() - began
    state.steps[step.name] = StepState("done", seconds, 0, made.said, [str(one) for one in made.artefacts])
    problems = _unreadable(state, step.name)
    if problems:
        state.steps[step.name].outcome = "failed"
    state.save()
    if problems:
        raise UpsError(f"the pipeline stopped in step {step.name}: {problems[0]}")


def _unreadable(state: PipelineState, name: str) -> list[str]:
    if state.steps[name].outcome != "done":
        return []
    return [problem for one in state.steps[name].artefacts if (problem := read_back(Path(one)))]

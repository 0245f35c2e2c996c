"""Runs a script until it hands its model a batch, takes both, and ends the run."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diagnostics.adapter.answers import read_json
from diagnostics.bisection.case import Source
from diagnostics.bisection.targets.captured_stage import CapturedStage, best_stage
from diagnostics.core import redaction
from diagnostics.core.errors import UsageError
from diagnostics.core.own_folders import CHILDREN
from diagnostics.machine.execution.bounded_output import last_lines
from diagnostics.machine.execution.plain_ranks import free_port
from diagnostics.machine.facts import ChildTimeout, MachineError
from diagnostics.record.record import agent_environment, make_record_folder

if TYPE_CHECKING:
    from diagnostics.machine.contract import Child
    from diagnostics.machine.facts import ChildResult

CHECK = CHILDREN / "check_capture.py"
DEADLINE_S = 900.0  # a script may download or index its data first
CHECK_DEADLINE_S = 120.0
INPUTS_HINT = "give another one, before --script: --inputs module:make_batch"
FACTORY_HINT = "name a factory instead: ups-doctor bisect-model module:factory --inputs module:make_batch"
# A program that asks for these is meant to be started by a launcher: it gets what a launch of one rank would set.
_LAUNCHED = re.compile(r"\b(?:LOCAL_RANK|WORLD_SIZE|init_process_group|torchrun)\b|environ\W{1,3}(?:get\W{1,2})?RANK\b")
_MISSED = re.compile(r"KeyError: '(?:RANK|LOCAL_RANK|WORLD_SIZE|MASTER_\w+)'|environment variable \w+ expected")
# The run is no training: nothing is compiled, and no tracker is told of it.
_QUIET = {"TORCHDYNAMO_DISABLE": "1", "WANDB_MODE": "disabled", "PYTHONDONTWRITEBYTECODE": "1"}


class ScriptDiedError(UsageError):
    """The script came to its end by itself, before any model was given a batch."""

    def __init__(
        self, message: str, *, hint: str, script: str, signal: int | None, code: int | None, run: ScriptRun
    ) -> None:
        super().__init__(message, hint=hint)
        self.script, self.signal, self.code, self.run = script, signal, code, run


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptRun:
    """How the script was started: to be run once more, as it was, until it hands a model a batch."""

    argv: tuple[str, ...]
    env: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedScript:
    """What a script's run gave: a source for cases, and under which settings the script runs its model.

    Without a batch (the run died in the model's constructor, or in its wrapper) a case takes no step: `steps` is 0.
    """

    source: Source
    name: str  # of the model's class
    place: str
    reached: str  # "construct", "wrap" or "call"
    settings: Mapping[str, Any] = field(default_factory=dict)  # fields of Settings that differ from the defaults
    notes: tuple[str, ...] = ()


def capture_script(
    command: Sequence[str],
    folder: Path,
    *,
    python: str,
    child: Child,
    deadline_s: float = DEADLINE_S,
    env: Mapping[str, str] | None = None,
    inputs: str = "",
) -> CapturedScript:
    """Runs `train.py ARGS`, or a launcher's command line, and leaves what it captured in `folder`.

    `inputs` ("module:name") gives batches in place of the one that is captured. What is there already, from the same
    command, is taken as it is. Raises UsageError where no model could be captured: the sentence says which part is
    missing.
    """
    made = folder / "capture.json"
    if not made.is_file() or (read_json(folder / "command.json") or {}).get("command") != list(command):
        shutil.rmtree(folder, ignore_errors=True)
        around = _Around(python=python, child=child, deadline_s=deadline_s, env=env or {}, other_batch=bool(inputs))
        stage = _run(command, folder, around)
        _keep(stage, folder, command)
        _check(folder, python=python, child=child)
    return _captured(folder, inputs)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Around:
    """How the script is run, and whether its batch is needed."""

    python: str
    child: Child
    deadline_s: float
    env: Mapping[str, str]
    other_batch: bool


def training_command(command: Sequence[str]) -> str:
    """Returns what starts the real training: the script under Python, or a launcher where it asks for one."""
    if not command or not command[0].endswith(".py"):
        return shlex.join(command)
    launcher = ["torchrun", "--nproc-per-node", "2"] if _is_launched(command) else ["python"]
    return shlex.join([*launcher, *command])


def _run(command: Sequence[str], folder: Path, around: _Around) -> CapturedStage:
    argv = [around.python, *command] if command[0].endswith(".py") else list(command)
    raw = folder / "raw"
    launched = _is_launched(command)
    for attempt in range(2):
        result = _once(argv, raw, around, _one_rank() if launched else {})
        stage = best_stage(raw, ended_well=result is not None and result.returncode == 0)
        if stage is not None and stage.usable(other_batch=around.other_batch):
            return stage
        text = result.stdout + result.stderr if result is not None else ""
        if attempt or launched or not _MISSED.search(text):
            break
        launched = True
    shutil.rmtree(raw, ignore_errors=True)
    run = ScriptRun(argv=tuple(argv), env={**_QUIET, **around.env, **(_one_rank() if launched else {})})
    raise _nothing(command, stage, result, around.deadline_s, run)


def _once(argv: Sequence[str], raw: Path, around: _Around, launch: Mapping[str, str]) -> ChildResult | None:
    """Returns how the run ended, None where its time was up."""
    shutil.rmtree(raw, ignore_errors=True)
    make_record_folder(raw / "agents")
    agent = agent_environment(raw / "agents", pythonpath=around.env.get("PYTHONPATH"))
    try:
        variables = {**_QUIET, **around.env, **launch, **agent, "UPS_DOCTOR_CAPTURE": str(raw.absolute())}
        return around.child.run(argv, deadline_s=around.deadline_s, env=variables)
    except ChildTimeout:
        return None
    except MachineError as error:
        raise UsageError(str(error), hint="name what starts the training: --script train.py --its-options") from error


def _is_launched(command: Sequence[str]) -> bool:
    """Whether the script is started without a launcher, and asks for what one sets."""
    script = next((word for word in command if word.endswith(".py")), "")
    plain = command[0] == script or Path(command[0]).name.startswith("python")
    try:
        return plain and "RANK" not in os.environ and bool(_LAUNCHED.search(Path(script).read_text("utf-8", "replace")))
    except OSError:
        return False


def _one_rank() -> dict[str, str]:
    values = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "LOCAL_WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1"}
    return {**values, "MASTER_PORT": str(free_port())}


def _nothing(
    command: Sequence[str], stage: CapturedStage | None, result: ChildResult | None, deadline_s: float, run: ScriptRun
) -> UsageError:
    script = redaction.line(next((word for word in command if word.endswith(".py")), command[0]))
    if stage is not None and stage.facts.get("problems", {}).get("batch"):
        said = f"the batch that {script} gives {stage.facts['class']}: {stage.facts['problems']['batch']}"
        return UsageError(f"{said}, which cannot be pickled", hint=INPUTS_HINT)
    if result is None:
        return UsageError(
            f"{script} gave no model a batch within {deadline_s:g} s; it was ended",
            hint=f"have it start sooner (less data, no download), or {FACTORY_HINT}",
        )
    last = redaction.line(_last_line(result.stderr) or _last_line(result.stdout) or "it said nothing")
    if result.returncode == 0:
        return UsageError(f"{script} came to its end and trained no torch.nn.Module", hint=FACTORY_HINT)
    how = f"signal {result.signal}" if result.signal else f"exit code {result.returncode}"
    said = f"{script} ended with {how} before a model was given a batch: {last}"
    hint = f"run it under watch: ups-doctor run -- {training_command(command)}\n{FACTORY_HINT}"
    return ScriptDiedError(said, hint=hint, script=script, signal=result.signal, code=result.returncode, run=run)


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def _keep(stage: CapturedStage, folder: Path, command: Sequence[str]) -> None:
    for path in stage.folder.iterdir():
        path.replace(folder / path.name)
    shutil.rmtree(folder / "raw", ignore_errors=True)
    kept = {"command": list(redaction.argv(command))} if list(redaction.argv(command)) == list(command) else {}
    (folder / "command.json").write_text(json.dumps(kept), encoding="utf-8")


def _check(folder: Path, *, python: str, child: Child) -> None:
    """Has a clean process make the model again, and notes in which way it can."""
    facts = read_json(folder / "capture.json") or {}
    try:
        result = child.run([python, str(CHECK), str(folder)], deadline_s=CHECK_DEADLINE_S)
        answer = json.loads(result.stdout.rstrip().rpartition("\n")[2])
    except (ChildTimeout, MachineError) as error:
        answer = {"build": "", "problem": str(error), "notes": []}
    except ValueError:
        answer = {"build": "", "problem": last_lines(result.stderr) or "it died", "notes": []}
    if not answer["build"]:
        (folder / "capture.json").unlink(missing_ok=True)
        said = f"{facts.get('class', 'the model')} cannot be made again outside its script: {answer['problem']}"
        raise UsageError(redaction.line(said), hint=FACTORY_HINT)
    facts["build"] = answer["build"]
    facts["notes"] = [*facts.get("notes", []), *answer["notes"], *_spared(facts)]
    (folder / "capture.json").write_text(json.dumps(facts), encoding="utf-8")


def _spared(facts: Mapping[str, Any]) -> list[str]:
    size = facts.get("spared", {}).get("batch", 0)
    return [f"{size >> 20} MiB of the batch have random values of the same shapes and range"] if size else []


def _captured(folder: Path, inputs: str) -> CapturedScript:
    facts = read_json(folder / "capture.json") or {}
    seen = facts.get("seen", {})
    settings: dict[str, Any] = {name: seen[name] for name in ("wrapper", "amp", "compile") if seen.get(name)}
    if seen.get("world", 1) > 1:
        settings["world"] = seen["world"]
    if str(seen.get("device", "cpu")) == "cuda":
        settings.update(device="cuda", backend=seen.get("backend") or "nccl")
    if seen.get("options") and settings.get("wrapper") in ("ddp", "fsdp1"):
        settings["options"] = tuple(sorted(seen["options"].items()))
    if "batch" not in facts.get("parts", ()) and not inputs:
        settings["steps"] = 0
    return CapturedScript(
        source=Source(capture=str(folder.absolute()), inputs=inputs),
        name=facts["class"],
        place=facts["place"],
        reached=facts["reached"],
        settings=settings,
        notes=tuple(redaction.line(note) for note in facts.get("notes", ())),
    )

"""Starts the processes of an experiment, and says in one sentence why one of them gave nothing to compare."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import shorten
from typing import Any

from diagnostics.core import redaction
from diagnostics.core.errors import USAGE_EXIT
from diagnostics.core.own_folders import AGENT
from diagnostics.machine.contract import Machine
from diagnostics.machine.facts import ChildTimeout, MachineError, RankResult
from diagnostics.parity.request import Form, ParityRequest
from diagnostics.record.record import agent_environment, make_record_folder

LONGEST_TEMPORARY = 60  # characters: sockets lie below it, and their paths have an end at 107
LONGEST_WORDS = 200
RAISED = re.compile(r"[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Warning)\b.{0,4096}")
PLAN_VARIABLE = "UPS_DOCTOR_PARITY"
# An experiment is no training: no tracker is told of it.
QUIET = {"WANDB_MODE": "disabled", "PYTHONDONTWRITEBYTECODE": "1", "TOKENIZERS_PARALLELISM": "false"}


class NotComparableError(Exception):
    """The experiment gives no answer; the argument is the sentence, `output` what the process said last.

    `refused` is what a child says of a MODULE:MAKE or CONFIG that cannot be used.
    """

    def __init__(self, sentence: str, output: str = "", refused: str = "") -> None:
        super().__init__(sentence)
        self.output, self.refused = output, refused


@dataclass(slots=True, kw_only=True)
class Runs:
    """The runs of one experiment, below `folder`."""

    request: ParityRequest
    machine: Machine
    folder: Path
    dtype: str
    made: list[str] = field(default_factory=list)
    doing: Callable[[str], None] = lambda _: None

    def ranks(self) -> None:
        """Runs the program with all ranks, as it is."""
        self._run("ranks", "ranks", self.request.nproc, what=f"with {self.request.nproc} ranks")

    def one(self, name: str = "one", *, by_share: bool = False) -> None:
        """Runs it in one process, on what all ranks were given."""
        self._run(name, "one", 1, by_share=by_share, what="in one process")

    def alone(self, rank: int) -> None:
        """Runs it in one process, on what one rank was given, at that rank's parameters."""
        self._run(f"alone-{rank}", "alone", 1, rank=rank, what=f"in one process, with rank {rank}'s samples")

    def facts(self, name: str = "ranks") -> Mapping[str, Any]:
        """Returns what rank 0 of a run said of itself."""
        return _facts(self.folder / name / "rank-0")

    def compare(self, tolerance: float, floor: float) -> Mapping[str, Any]:
        """Returns the comparison's answer over all runs that were made."""
        asked = {"folder": str(self.folder.absolute()), "tolerance": tolerance, "floor": floor}
        found = self._task({"kind": "compare", "request": asked}, 1, {})[0]
        if "compared" not in found.answer:
            raise NotComparableError("the comparison of the runs gave no answer", found.stderr)
        answer: Mapping[str, Any] = found.answer["compared"]
        return answer

    # ------------------------------------------------------------------ one run

    def _run(self, name: str, mode: str, nproc: int, *, what: str, rank: int = 0, by_share: bool = False) -> None:
        self.doing(f"running {self.request.name} {what}")
        folder = self.folder / name
        make_record_folder(folder / "agents")
        plan = self._plan(folder, mode, rank, by_share)
        (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
        environment = {
            **QUIET,
            **({"OMP_NUM_THREADS": "1"} if self.request.form is not Form.SCRIPT else {}),
            **agent_environment(folder / "agents"),
            **self._temporary(),
            PLAN_VARIABLE: str((folder / "plan.json").absolute()),
        }
        try:
            results = self._start(mode, nproc, rank, environment)
        except ChildTimeout:
            results = []
        except MachineError as error:
            raise NotComparableError(f"{self.request.name} cannot be started: {error}") from error
        self._judge(folder, results, nproc, what)
        self.made.append(name)

    def _temporary(self) -> dict[str, str]:
        """Gives the runs a temporary folder of their own: they are ended before they clean up after themselves."""
        made = self.folder / "tmp"
        made.mkdir(exist_ok=True)
        fits = (
            len(str(made.absolute())) <= LONGEST_TEMPORARY and not self.request.compiled
        )  # compilers keep caches there
        return {"TMPDIR": str(made.absolute())} if fits else {}

    def _plan(self, folder: Path, mode: str, rank: int, by_share: bool) -> dict[str, Any]:
        fed = self.request.form is Form.SCRIPT or (self.request.form is Form.ADAPTER and mode == "alone")
        return {
            "folder": str(folder.absolute()),
            "source": str((self.folder / "ranks").absolute()),
            "mode": mode,
            "rank": rank,
            "world": self.request.nproc,
            "steps": self.request.steps,
            "dtype": self.dtype,
            "keep_batches": mode == "ranks" and self.request.form is not Form.MADE,
            "feed": fed and mode != "ranks",
            "ghost": by_share,
        }

    def _start(self, mode: str, nproc: int, rank: int, environment: Mapping[str, str]) -> list[RankResult]:
        asked = self.request
        if asked.form is Form.MADE:
            loop = {
                "make": asked.make, "mode": mode, "rank": rank, "world": asked.nproc, "steps": asked.steps,
                "wrap": asked.wrap, "accumulate": asked.accumulate, "compile": asked.compiled, "amp": asked.amp,
                "dtype": self.dtype, "backend": asked.backend, "seed": 0,
            }  # fmt: skip
            return self._task({"kind": "loop", "request": loop}, nproc, environment)
        argv = [word.replace("{nproc}", str(nproc)) for word in asked.argv]
        if asked.own_launch:
            return [self._launch(argv, environment)]
        if self._may_fork(argv):
            kind = "module" if argv[1] == "-m" else "script"
            return self._task({"kind": kind, "argv": argv[2:] if kind == "module" else argv[1:]}, nproc, environment)
        return self.machine.ranks.run_command(argv, nproc, deadline_s=asked.deadline_s, env=environment)

    def _launch(self, argv: Sequence[str], environment: Mapping[str, str]) -> RankResult:
        """Runs a program that starts its ranks itself."""
        variables: dict[str, str | None] = {**dict.fromkeys(OF_LAUNCHERS), **environment}
        ended = self.machine.child.run(argv, deadline_s=self.request.deadline_s, env=variables)
        return RankResult(
            rank=0,
            pid=0,
            returncode=ended.returncode,
            signal=ended.signal,
            answer={},
            stdout=ended.stdout,
            stderr=ended.stderr,
            seconds=ended.seconds,
        )

    def _may_fork(self, argv: Sequence[str]) -> bool:
        """Whether a fork of the warm child is what a process of its own would be: it saves torch's import each time."""
        if len(argv) < 2 or argv[0] != self.request.python or not (argv[1] == "-m" or argv[1].endswith(".py")):
            return False
        try:
            return self.machine.ranks.torch_facts().device_count == 0
        except MachineError:
            return False

    def _task(self, arguments: Mapping[str, Any], nproc: int, environment: Mapping[str, str]) -> list[RankResult]:
        return self.machine.ranks.run_task(
            "parity",
            nproc,
            backend=self.request.backend,
            deadline_s=self.request.deadline_s,
            arguments={**arguments, "agent": str(AGENT)},
            env=environment,
        )

    # ------------------------------------------------------------------ what became of it

    def _judge(self, folder: Path, results: Sequence[RankResult], nproc: int, what: str) -> None:
        """Raises NotComparableError where a rank took no step."""
        found = [_facts(folder / f"rank-{rank}") for rank in range(nproc)]
        refused = next((one["refused"] for one in found if "refused" in one), "")
        if refused:
            raise NotComparableError(refused)
        taken = [int(one.get("steps", 0)) for one in found]
        if min(taken) >= self.request.steps:
            return
        words = _said(results)
        late = [one.rank for one in results if one.timed_out]
        if late or not results:
            shown = f"rank {late[0]} was" if len(late) == 1 else f"ranks {' and '.join(map(str, late))} were"
            raise NotComparableError(
                f"{what}, it took {min(taken)} of {self.request.steps} steps in {self.request.deadline_s:g} s "
                f"and was ended{f': {shown} still there' if late else ''}",
                words,
            )
        if self.request.form is not Form.SCRIPT and any(one.returncode == USAGE_EXIT for one in results):
            raise NotComparableError(what, words, refused=_last_line(words).removeprefix("error: "))
        failed = [one for one in results if one.returncode and not one.ended]
        if failed:
            raise NotComparableError(
                f"{what}, rank {failed[0].rank} ended with {_end(failed[0])} after {min(taken)} "
                f"step{'s' * (min(taken) != 1)}: {what_was_raised(words)}",
                words,
            )
        if not min(taken):
            raise NotComparableError(f"{what}, it ended by itself and no optimizer took a step", words)


OF_LAUNCHERS = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


def _facts(folder: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):  # the rank never came so far
        return {}
    return found


def _end(result: RankResult) -> str:
    return f"signal {result.signal}" if result.signal else f"exit code {result.returncode}"


def _said(results: Sequence[RankResult]) -> str:
    """Returns what the first rank that failed by itself wrote last."""
    ordered = sorted(results, key=lambda one: (one.ended, not one.returncode))
    return next((one.stderr or one.stdout for one in ordered if one.stderr or one.stdout), "")


def what_was_raised(text: str) -> str:
    """Returns the line with which an exception's own words begin, of the last traceback; else the last line."""
    raised = [line for line in text.splitlines() if RAISED.match(line)]
    return shorten(redaction.line(raised[-1]), LONGEST_WORDS, placeholder=" ...") if raised else _last_line(text)


def _last_line(text: str) -> str:
    found = next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "it said nothing")
    return redaction.line(found)

"""Tries a healthy model, then one that never ends: to be interrupted. Arguments: folder, model file, NAME=VALUE..."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from diagnostics.bisection.case import Configuration, RunSettings, Source
from diagnostics.bisection.trial import Trial
from diagnostics.bisection.tries.one_run import RunEnvironment
from diagnostics.bisection.tries.oracle import Tries
from diagnostics.bisection.tries.tries_file import TriesFile
from diagnostics.machine.this import this_machine


class Told:
    """Prints what is tried."""

    def trying(self, what: str, *, number: int, most: int | None, left_s: float | None) -> None:
        print("trying", what, flush=True)

    def tried(self, what: str, trial: Trial) -> None:
        print("tried", what, trial.passed, flush=True)

    def doing(self, what: str) -> None:
        print("doing", what, flush=True)

    def say(self, line: str) -> None:
        print("say", line, flush=True)


def main(folder: Path, model: str, env: tuple[tuple[str, str], ...]) -> None:
    settings = RunSettings(world=2, env=env)
    with this_machine() as machine:
        around = RunEnvironment(python=sys.executable, environ=os.environ)
        tries = Tries(machine.ranks, around, folder, TriesFile(folder / "tries.jsonl", {}), Told())
        for name in ("Net", "waits"):
            source = Source(factory=f"{model}:{name}", inputs=f"{model}:batch")
            tries.ask(Configuration(source=source, settings=RunSettings() if name == "Net" else settings), name)


if __name__ == "__main__":
    variables = [word.partition("=")[::2] for word in sys.argv[3:]]
    try:
        main(Path(sys.argv[1]), sys.argv[2], tuple((name, value) for name, value in variables))
    except KeyboardInterrupt:
        sys.exit(130)

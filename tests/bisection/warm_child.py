"""Runs scripts by forks of a Python that has imported torch, for tests of what a script does, not of its start."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from warm_python import start

from diagnostics.machine.facts import ChildResult, ChildTimeout


class ForkedScripts:
    """The Child provider for `python SCRIPT ...`; ranks that a script spawns are forks of it."""

    def run(
        self,
        argv: Sequence[str],
        *,
        deadline_s: float,
        env: Mapping[str, str | None] | None = None,
        cwd: Path | None = None,
    ) -> ChildResult:
        environ = {key: value for key, value in {**os.environ, **(env or {})}.items() if value is not None}
        try:
            ended = start(*argv[1:], env=environ, cwd=cwd).end(deadline_s)
        except TimeoutError as late:
            raise ChildTimeout(" ".join(argv)) from late
        code = ended.returncode
        return ChildResult(
            argv=tuple(argv), returncode=code, signal=-code if code < 0 else None, stdout=ended.stdout,
            stderr=ended.stderr, seconds=0.0,
        )  # fmt: skip

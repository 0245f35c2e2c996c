"""One question of the doctor's, and how its answer is written down."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ups.config import UpsConfig
from ups.errors import ConfigError, from_os_error


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """`path` is the configuration's file, absolute; `result` is this rank's file for the answer."""

    path: Path
    overrides: tuple[str, ...]
    config: UpsConfig
    result: Path | None
    rank: int
    world_size: int
    steps: int
    apply: bool = False
    cache: Path | None = None
    stage: str = ""

    def write(self, answer: Mapping[str, Any]) -> None:
        """Replaces the result file in one step, so that a crash leaves the answer before it."""
        if self.result is None:
            raise ConfigError("--result FILE is missing: the answer has nowhere to go")
        try:
            self.result.parent.mkdir(parents=True, exist_ok=True)
            temporary = self.result.with_name(self.result.name + ".tmp")
            temporary.write_text(json.dumps(answer), encoding="utf-8")
            temporary.replace(self.result)
        except OSError as error:
            raise from_os_error(error, action="cannot write the answer", path=self.result) from error

"""What became of each step, on disk after each: a pipeline that was stopped goes on, and says what it left out."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from ups.config import UpsConfig, to_plain
from ups.errors import DataError, from_os_error
from ups.run_folder import write_atomically

ASKED_OF_RESULTS = ("pipeline", "tracking")  # sections that no step before the gate looks at
Outcome = Literal["done", "failed", "skipped"]


@dataclass(slots=True)
class StepState:
    """One step; `artefacts` are the files it made, `said` its one line."""

    outcome: Outcome
    seconds: float = 0.0
    code: int = 0
    said: str = ""
    artefacts: list[str] = field(default_factory=list)


@dataclass(slots=True)
class PipelineState:
    """The file state.json of a pipeline."""

    path: Path
    config: str = ""  # digest of the configuration that the steps belong to
    steps: dict[str, StepState] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path) -> PipelineState:
        """Returns what the file says, nothing done where there is none. Raises DataError for another content."""
        if not path.exists():
            return cls(path)
        try:
            plain = json.loads(path.read_text(encoding="utf-8"))
            steps = {name: StepState(**one) for name, one in plain["steps"].items()}
            return cls(path, str(plain["config"]), steps)
        except OSError as error:
            raise from_os_error(error, action="cannot read the pipeline's state", path=path) from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataError(
                f"{path} is not the state of a pipeline: {error!r}", hint=f"start anew: rm {path}"
            ) from error

    def save(self) -> None:
        """Writes the file whole. Raises UpsError."""
        plain = {"config": self.config, "steps": {name: asdict(one) for name, one in self.steps.items()}}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self.path, (json.dumps(plain, indent=1) + "\n").encode())
        except OSError as error:
            raise from_os_error(error, action="cannot write the pipeline's state", path=self.path) from error

    def is_done(self, name: str) -> bool:
        """Whether the step was done and all it made is still there."""
        found = self.steps.get(name)
        return found is not None and found.outcome == "done" and all(Path(one).exists() for one in found.artefacts)


def digest_of(config: UpsConfig) -> str:
    """Returns 16 hex digits that change with any key on which files of a run depend."""
    plain: dict[str, Any] = {name: one for name, one in to_plain(config).items() if name not in ASKED_OF_RESULTS}
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:16]

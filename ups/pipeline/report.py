"""The page at the end of a pipeline: what was done, what came of it, pictures."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from ups.errors import from_os_error
from ups.pipeline.engine import Experiment
from ups.pipeline.state import PipelineState
from ups.run_folder import write_atomically

SHOWN = ("nRMSE", "RMSE", "cRMSE", "max", "bRMSE", "fRMSE_low", "fRMSE_mid", "fRMSE_high")


def write_report(experiment: Experiment) -> Path:
    """Writes report.md into the pipeline's folder; returns its path. Raises UpsError."""
    folder = experiment.folder
    path = folder / "report.md"
    state = PipelineState.load(folder / "state.json")
    lines = [f"# {experiment.config.name}: {experiment.config.data.task}", "", "| step | | seconds |", "|---|---|---|"]
    lines += [f"| {name} | {one.said or one.outcome} | {one.seconds:.1f} |" for name, one in state.steps.items()]
    file = folder / "evaluation" / "evaluation.json"
    if file.exists():
        numbers = json.loads(file.read_text(encoding="utf-8"))
        lines += ["", *_errors("One step", numbers["one_step"])]
        if "rollout" in numbers:
            lines += ["", *_errors(f"Rollout over {numbers['rollout']['steps']} steps", numbers["rollout"])]
        if numbers.get("ensembles"):
            lines += ["", *_ensembles(numbers["ensembles"])]
        if "residual" in numbers:
            left = ", ".join(f"{name} {value:.3g}" for name, value in numbers["residual"].items())
            lines += ["", f"Residual of the equation over its forcing: {left}."]
    for picture in sorted((folder / "evaluation" / "plots").glob("*.png")):
        lines += ["", f"![{picture.stem}]({os.path.relpath(picture, folder)})"]
    try:
        write_atomically(path, ("\n".join(lines) + "\n").encode())
    except OSError as error:
        raise from_os_error(error, action="cannot write the report", path=path) from error
    return path


def _errors(title: str, columns: dict[str, Any]) -> list[str]:
    rows = {name: one for name, one in columns.items() if isinstance(one, dict) and "nRMSE" in one}
    lines = [f"## {title}", "", f"| | {' | '.join(SHOWN)} |", "|---" * (len(SHOWN) + 1) + "|"]
    for name, one in rows.items():
        values = ("-" if one[metric] is None else f"{one[metric]:.3g}" for metric in SHOWN)
        lines.append(f"| {'operator alone' if name == 'model' else name} | {' | '.join(values)} |")
    return lines


def _ensembles(found: dict[str, Any]) -> list[str]:
    lines = ["## Ensembles", "", "| | members | CRPS | spread | skill | spread / skill |", "|---|---|---|---|---|---|"]
    for name, one in found.items():
        numbers = (f"{one[key]:.3g}" for key in ("crps", "spread", "skill", "spread_skill"))
        lines.append(f"| {name} | {one['members']} | {' | '.join(numbers)} |")
    return lines

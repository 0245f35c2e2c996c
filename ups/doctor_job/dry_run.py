"""`dry-run`: a few real steps of every stage, by the launcher of `ups train`, into a folder that is removed again.

Only what costs time and says nothing is cut short: the steps, and the samples down to what they need. Nothing
of the user's is touched: output and latent cache lie in the temporary folder.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ups.config import UpsConfig, load_config
from ups.data.fields import FieldSpec, open_data
from ups.data.several.problems import problems
from ups.doctor_job.request import Request
from ups.errors import UpsError
from ups.launch import run
from ups.launch.elastic import Launched, launch
from ups.run_folder import RunFolder


def answer(request: Request) -> None:
    """Trains, and writes what was measured. Raises the run's own error, with its exit code, where it fails."""
    nproc = request.config.training.nproc or run.visible_gpus() or 2
    with tempfile.TemporaryDirectory(prefix="ups-dry-run-") as folder:
        overrides = (*request.overrides, *_overrides(request, nproc, Path(folder) / "run"))
        config = load_config(request.path, overrides)
        asked = run.Request(config=config, path=request.path, overrides=overrides, stages=config.stages.run)
        run.prepare(asked, nproc)
        training = config.training
        launched = launch(run.rank_argv(asked), nproc, port=training.port, threads=training.threads_per_rank)
        if not launched.completed:
            failed = run.failure(launched, asked)
            raise UpsError(failed.message, exit_code=failed.exit_code)  # its hint speaks of a folder that is removed
        request.write(
            {
                **_measured(launched, config.stages.run),
                **_checkpoint(RunFolder(config.output.dir), config),
                "world_size": nproc,
            }
        )


def _overrides(request: Request, nproc: int, folder: Path) -> list[str]:
    parts = problems(request.config)
    cut = [] if request.config.data.tasks else [_fewer_samples(request, nproc)]
    for one in parts.values():
        open_data(one.data)
    return [
        f"output.dir={folder}",
        f"cache.dir={folder}/cache",
        "cache.ram_disk=null",
        *cut,
        *(f"stages.{name}.max_steps={request.steps}" for name in request.config.stages.run),
    ]


def _fewer_samples(request: Request, nproc: int) -> str:
    spec = open_data(request.config.data)
    return f"data.max_samples={samples_for(request.config, spec, request.steps, nproc)}"


def samples_for(config: UpsConfig, spec: FieldSpec, steps: int, nproc: int) -> int:
    """Returns the samples of the file that so many steps of each stage need, validation and test included."""
    data = config.data
    frames, pairs = spec.frames * len(spec.fields), max(1, spec.frames - 1)
    # A batch more than the steps take: an epoch that ends with the last step would validate.
    training = max(
        math.ceil(getattr(config.stages, name).batch_size * (steps + 1) / (frames if name == "autoencoder" else pairs))
        for name in config.stages.run
    )
    share = 1 - data.test_fraction - data.validation_fraction
    validating = math.ceil(nproc / max(data.validation_fraction, 0.01)) + 1
    needed: int = max(math.ceil(training / share) + 2, validating)
    return min(spec.samples, needed)


def _measured(launched: Launched, stages: Sequence[str]) -> dict[str, Any]:
    results = [report.result for report in launched.reports]
    waits = [_later(result["stages"].values()) for result in results]
    return {
        "steps": min(report.steps for report in launched.reports),
        "samples_per_s": min(_samples_per_s(result["stages"][stages[-1]]) for result in results),
        "peak_memory_bytes": max(int(result["peak_memory_bytes"]) for result in results),
        "data_wait_share": max(wait / (wait + step) if wait + step else 0.0 for wait, step in waits),
        "step_s": {name: _step_s(results[0]["stages"][name]) for name in stages},
    }


def _later(timings: Iterable[Mapping[str, float]]) -> tuple[float, float]:
    timings = list(timings)
    return sum(timing["later_wait_s"] for timing in timings), sum(timing["later_step_s"] for timing in timings)


def _samples_per_s(timing: Mapping[str, float]) -> float:
    seconds = timing["later_wait_s"] + timing["later_step_s"]
    if not seconds or not timing["steps"]:
        return 0.0
    return timing["samples"] * timing["later_steps"] / timing["steps"] / seconds


def _step_s(timing: Mapping[str, float]) -> float:
    return (timing["later_wait_s"] + timing["later_step_s"]) / max(1, timing["later_steps"])


def _checkpoint(folder: RunFolder, config: UpsConfig) -> dict[str, Any]:
    from ups import checkpoint
    from ups.checkpointing.newest import opened

    saved = folder.saved()[:1]
    trained = [folder.trained(stage) for stage in config.stages.run[1:]]
    parts = [*(path for one in saved for path in one.iterdir()), *trained]
    size = sum(path.stat().st_size for path in parts if path.exists())
    try:
        for one in saved:
            opened(one)
        for path in trained:
            for task in problems(config):
                checkpoint.load_best(path, task).predictors()  # fits the states into newly built modules
    except UpsError as error:
        return {"checkpoint_bytes": size, "checkpoint_reread": error.message}
    except RuntimeError as error:  # torch's word for a state that does not fit the module
        return {"checkpoint_bytes": size, "checkpoint_reread": str(error).strip().splitlines()[0]}
    return {"checkpoint_bytes": size, "checkpoint_reread": True}

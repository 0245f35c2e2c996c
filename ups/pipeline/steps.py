"""The steps of a pipeline, in their order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ups.checkpointing.layout import read_manifest
from ups.config import UpsConfig
from ups.data.fields import data_file, open_data
from ups.data.info import describe
from ups.errors import ConfigError, DataError, UpsError
from ups.launch.before_data import check_configuration
from ups.launch.run import visible_gpus
from ups.pipeline import programs
from ups.pipeline.engine import Experiment, Made, Step
from ups.pipeline.estimate import estimate
from ups.pipeline.leaderboard import enter
from ups.pipeline.report import write_report
from ups.run_folder import RunFolder
from ups.stages import ORDER


def configuration(experiment: Experiment) -> Made:
    """Holds the configuration against itself; that it could be read, the command line has seen."""
    config = experiment.config
    check(config)
    return Made(f"{config.name}: {config.data.task}, stages {', '.join(config.stages.run)}")


def check(config: UpsConfig) -> None:
    """Raises ConfigError for what no data could make right."""
    if config.data.tasks:
        raise ConfigError(
            "a pipeline is about one problem, and data.tasks names several",
            hint="name one by data.task; several are trained by ups train CONFIG",
        )
    gpus = visible_gpus() if config.training.backend != "gloo" else 0
    nproc = config.training.nproc or gpus or 2
    stages = ("autoencoder", *(name for name in config.stages.run if name != "autoencoder"))
    RunFolder(config.output.dir).check_earlier(stages)
    check_configuration(config, stages, nproc, gpus=gpus > 0, port=config.training.port)


def data(experiment: Experiment) -> Made:
    """Makes the data file where it is not there, and reads all of it."""
    path = data_file(experiment.config.data)
    programs.run(programs.UPS, ["data", "generate", "--config", experiment.path, *experiment.settings])
    spec, facts = open_data(experiment.config.data), describe(path, full=True)
    bad = {name: one["not_finite"] for name, one in facts["datasets"].items() if one.get("not_finite")}
    if bad:
        name, count = next(iter(bad.items()))
        raise DataError(f"{path}: {count} values of '{name}' are not finite", hint=f"ups data info {path} --full")
    cells = " x ".join(map(str, spec.grid))
    return Made(f"{spec.samples} samples of {spec.frames} frames, {cells} cells, all finite", (path,))


def cache_scan(experiment: Experiment) -> Made:
    """Looks at a latent cache that is there already: a bad one would end the run later."""
    folder = experiment.config.cache_dir
    if not folder.exists():
        return Made("no cache yet")
    programs.run(programs.DOCTOR, ["scan-cache", folder])
    return Made(f"{folder} is good")


def preflight(experiment: Experiment) -> Made:
    """Has the doctor check machine, launch, data and models; the dry run is a step of its own."""
    programs.run(programs.DOCTOR, ["preflight", experiment.path, "--skip", "dry-run", *experiment.settings])
    return Made("no error")


def dry_run(experiment: Experiment) -> Made:
    """Trains a few steps of each stage, and says what all of them will take."""
    found = estimate(experiment)
    path = experiment.folder / "dry_run.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return Made(
        f"about {found['seconds']:.0f} s on {found['ranks']} ranks, {found['core_hours']:.2g} core hours, "
        f"{found['peak_memory_bytes'] / 2**30:.1f} GiB a rank",
        (path,),
    )


def autoencoder(experiment: Experiment) -> Made:
    """Trains the first stage."""
    if not is_trained(experiment.config, "autoencoder"):
        _train(experiment, "--stage", "autoencoder")
    return Made("trained", (RunFolder(experiment.config.output.dir).autoencoder,))


def cache(experiment: Experiment) -> Made:
    """Encodes the data once."""
    if not experiment.config.cache.enabled:
        return Made("the configuration wants none")
    programs.run(programs.UPS, ["cache", "build", experiment.path, *experiment.settings])
    return Made("built", (experiment.config.cache_dir,))


def stages(experiment: Experiment) -> Made:
    """Trains the stages after it."""
    folder = RunFolder(experiment.config.output.dir)
    if not is_trained(experiment.config, experiment.config.stages.run[-1]):
        _train(experiment)
    made = tuple(folder.trained(name) for name in experiment.config.stages.run)
    return Made(f"trained {', '.join(experiment.config.stages.run[1:])}", (*made, folder.metrics))


def gate(experiment: Experiment) -> Made:
    """Evaluates on a few samples of the validation split: what is no better than its baseline goes no further."""
    settings = experiment.config.pipeline
    numbers = _evaluated(experiment, "gate", "--split", "validation", "--samples", str(settings.gate_samples))
    ours, theirs = best_row(numbers)[1], baseline(numbers)
    said = f"nRMSE {ours:.3g} of one step on {numbers['samples']} validation samples, without training {theirs:.3g}"
    if not ours < settings.gate_share * theirs:
        raise UpsError(
            f"{said}: less than {settings.gate_share:g} of it is needed",
            hint="train longer, or set pipeline.gate_share",
        )
    return Made(said, (experiment.folder / "gate" / "evaluation.json",))


def evaluation(experiment: Experiment) -> Made:
    """Evaluates on the whole test split, with pictures."""
    numbers = _evaluated(experiment, "evaluation", "--split", "test")
    name, ours = best_row(numbers)
    folder = experiment.folder / "evaluation"
    pictures = sorted((folder / "plots").glob("*.png"))
    return Made(
        f"nRMSE {ours:.3g} of one step by {name} on {numbers['samples']} test samples",
        (folder / "evaluation.json", *pictures),
    )


def leaderboard(experiment: Experiment) -> Made:
    """Enters the result, and promotes the checkpoint where it is the best of its problem."""
    numbers = json.loads((experiment.folder / "evaluation" / "evaluation.json").read_text(encoding="utf-8"))
    # Which of the stages is entered the validation split has said, not the test split that it is measured on.
    small = experiment.folder / "gate" / "evaluation.json"
    chosen = json.loads(small.read_text(encoding="utf-8")) if small.exists() else None
    name = best_row(chosen)[0] if chosen is not None else experiment.config.stages.run[-1]
    found = numbers["one_step"]["model" if name == "operator" else name]["nRMSE"]
    error = float("inf") if found is None else float(found)
    said, files = enter(experiment.config, final(experiment.config), numbers, name, error)
    lowest, its_error = best_row(numbers)
    if lowest != name:
        said += (
            f" ({name} was the best on validation; of the test split {lowest} has {its_error:.3g}, which chooses none)"
        )
    return Made(said, files)


def report(experiment: Experiment) -> Made:
    """Writes what came of it on one page."""
    path = write_report(experiment)
    return Made(str(path), (path,))


STEPS = (
    Step("config", "the configuration", configuration),
    Step("data", "the data file, made where it is not there, and every value looked at", data),
    Step("cache-scan", "the latent cache, if there is one", cache_scan),
    Step("preflight", "can this machine train it", preflight),
    Step("dry-run", "a few steps of every stage: time, memory, cost", dry_run),
    Step("autoencoder", "the first stage", autoencoder),
    Step("cache", "the latent cache", cache),
    Step("stages", "the stages after it", stages),
    Step("gate", "a small evaluation: is it worth a large one", gate),
    Step("evaluation", "the test split", evaluation),
    Step("leaderboard", "the entry, and promotion of the best", leaderboard),
    Step("report", "one page", report),
)


def final(config: UpsConfig) -> Path:
    """Returns the checkpoint that holds all stages."""
    return RunFolder(config.output.dir).trained(config.stages.run[-1])


def is_trained(config: UpsConfig, stage: str) -> bool:
    """Whether the run's newest checkpoint is the end of a stage, or of a later one."""
    folder = RunFolder(config.output.dir)
    saved = folder.saved()[:1]
    if not saved or not saved[0].is_dir() or not folder.trained(stage).exists():
        return False
    folder.check_unchanged(config)  # of another configuration it would be another model
    facts = read_manifest(saved[0])
    if facts["stage"] != stage:
        return ORDER.index(str(facts["stage"])) > ORDER.index(stage)
    epochs: int = getattr(config.stages, stage).epochs
    return int(facts["position"]["epoch"]) >= epochs


def best_row(numbers: dict[str, Any]) -> tuple[str, float]:
    """Returns the model with the lowest one-step nRMSE, and that; infinite where none is finite."""
    rows = {name: one["nRMSE"] for name, one in numbers["one_step"].items() if name not in WITHOUT_TRAINING}
    finite = {name: value for name, value in rows.items() if value is not None}
    if not finite:
        return "model", float("inf")
    name = min(finite, key=lambda one: finite[one])
    return ("operator" if name == "model" else name), finite[name]


def baseline(numbers: dict[str, Any]) -> float:
    """Returns the nRMSE of what needs no training: persistence, or the mean field."""
    step = numbers["one_step"]
    return float(step["persistence" if "persistence" in step else "mean_field"]["nRMSE"])


WITHOUT_TRAINING = ("persistence", "mean_field", "autoencoder")


def _train(experiment: Experiment, *arguments: str) -> None:
    going_on = ["--resume"] if RunFolder(experiment.config.output.dir).saved() else []
    line = ["train", experiment.path, "--no-preflight", *experiment.settings, *arguments, *going_on]
    programs.run(programs.UPS, line)


def _evaluated(experiment: Experiment, name: str, *arguments: str) -> dict[str, Any]:
    folder = experiment.folder / name
    quiet = ["--out", folder, "--json", *arguments]
    programs.run(programs.UPS, ["evaluate", final(experiment.config), *quiet], quiet=True)
    numbers: dict[str, Any] = json.loads((folder / "evaluation.json").read_text(encoding="utf-8"))
    return numbers

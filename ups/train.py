"""The training loop, top to bottom: one function a stage of thought, in the order in which it must happen.

    sampler and loader -> model on device -> compile and wrap -> rehearse -> optimizer -> barrier -> loop

The process group exists before `train` is called (ups.distributed.begin). The loss of a step is the sum
over all samples of the global batch divided by their number, whatever ranks and micro-batches it is cut
into. How the ranks share the model is the affair of a strategy (ups.strategies), of which the loop knows one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from ups.agreement import Agreement, Failure, Trouble, failure_of
from ups.checkpointing import state
from ups.checkpointing.newest import newest
from ups.checkpointing.saver import Saved, Saver
from ups.checkpointing.state import Found
from ups.config import StageConfig, UpsConfig
from ups.data.loaders import Batch, batches, loader, small_batch
from ups.data.sampler import check_enough
from ups.data.several.task_items import sampler_for
from ups.distributed import World, barrier, random_state, seed_everything, sums
from ups.drills import drill_of
from ups.ema import Ema
from ups.errors import AgreedError, UpsError
from ups.imports import import_compiler
from ups.meters import Meter
from ups.progress import Display
from ups.run_folder import RunFolder
from ups.schedule import learning_rate, make_optimizer
from ups.stages.contract import TrainingStage
from ups.step.accumulate import accumulate_gradients, pieces_of
from ups.step.compiled import Compilations
from ups.step.micro_batch import pieces_for
from ups.step.precision import Precision
from ups.step.spike import Rewind, SpikeGuard
from ups.stopping.boundary import Boundary
from ups.stopping.request import SAVED_EXIT, SavedError, StopRequest, announce_saved
from ups.strategies.choice import strategy_of
from ups.strategies.state import gathered
from ups.tracking.jsonl import JsonLines


@dataclass(slots=True)
class Position:
    """Where a stage stands: the next batch of an epoch, and the optimizer steps done."""

    epoch: int = 0
    batch: int = 0
    step: int = 0


@dataclass(slots=True)
class Timing:
    """Where one rank's seconds of a stage went, start-up left out."""

    steps: int = 0
    samples: int = 0
    total_s: float = 0.0
    data_wait_s: float = 0.0
    validation_s: float = 0.0
    checkpoint_s: float = 0.0
    later_steps: int = 0  # all but the first, which pays for workers, buckets and caches
    later_step_s: float = 0.0  # inside those steps
    later_wait_s: float = 0.0  # waiting for their batches


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the loop writes to. Only rank 0 has records."""

    folder: RunFolder
    records: tuple[JsonLines, ...]
    display: Display
    header: dict[str, Any]  # the keys every checkpoint has
    saved: Saved = field(default_factory=Saved)  # what became of the run's checkpoints

    @property
    def metrics_bytes(self) -> int:
        """The length of metrics.jsonl, so that a resumed run can cut off what came after its checkpoint."""
        return sum(one.size for one in self.records)

    def can_go_back(self, stage: str) -> bool:
        """Whether this run has a checkpoint of the stage; the same on all ranks."""
        return Path(self.saved.last_good).name.startswith(f"{stage}-")

    def log(self, kind: str, stage: str, step: int, **values: float) -> None:
        """Keeps one record; trackers are sent it by a process of theirs."""
        for one in self.records:
            one.log({"kind": kind, "stage": stage, "step": step, **values})

    def say(self, text: str) -> None:
        """Shows a line."""
        self.display.say(text)

    def note(self, text: str, kind: str, stage: str, step: int, **values: float) -> None:
        """Shows a line, and keeps a record of it."""
        self.display.say(text)
        self.log(kind, stage, step, **values)


def train(
    stage: TrainingStage, config: UpsConfig, world: World, around: Surroundings, resume: Found | None = None
) -> Timing:
    """Trains one stage to its end, or from a checkpoint of it. Returns where the time went.

    Raises SavedError where the ranks were asked to stop.
    """
    import_compiler()
    return Loop(stage, config, world, around, resume).run()


class Loop:
    """One stage's training; `__init__` builds in the only right order, `run` is the loop."""

    def __init__(
        self, stage: TrainingStage, config: UpsConfig, world: World, around: Surroundings, resume: Found | None
    ) -> None:
        self.stage, self.config, self.world, self.around = stage, config, world, around
        self.settings: StageConfig = getattr(config.stages, stage.NAME)
        self.position, self.best, self.timing = Position(), math.inf, Timing()
        self.measured: dict[str, float] = {}  # by the last validation
        cuda = world.device.type == "cuda"

        # Sampler and loader: after the process group, which says how many ranks share a batch.
        length = len(stage.train_dataset)  # type: ignore[arg-type]
        batch_size = self.settings.batch_size
        check_enough(length, batch_size, world.size)
        self.sampler = sampler_for(stage.train_dataset, batch_size, world.rank, world.size, config.seed, shuffle=True)
        self.loader = loader(stage.train_dataset, self.sampler, config.training, pin=cuda)
        self.total_steps = self.settings.epochs * len(self.sampler)
        self.validation_sampler = sampler_for(
            stage.validation_dataset, batch_size, world.rank, world.size, config.seed, shuffle=False
        )
        self.validation_loader = loader(stage.validation_dataset, self.validation_sampler, config.training, pin=cuda)

        # Model, on its device: the same start on every rank, whatever their number.
        seed_everything(config.seed, rank=0)
        self.module = stage.build().to(world.device)
        seed_everything(config.seed, world.rank)

        # Compile and wrap, then optimizer: it must hold the parameters that are really trained.
        self.strategy = strategy_of(self.module, config.training, world)
        self.precision = Precision(config.training, world.device)
        self.strategy.rehearse(self._small_batch, self.precision)
        self.optimizer = make_optimizer(self.module, self.settings)
        self.ema = Ema(self.module, self.strategy.average, self.settings.ema_decay)

        # What makes all ranks do the same about a step that one of them cannot make.
        self.drill = drill_of(world.rank, stage.NAME)
        self.agreement = Agreement(world, stage.NAME, self.settings, config.training.max_skips, around, self.precision)
        self.agreement.pieces = pieces_for(
            config.training, self.settings, self.strategy, self.precision, self._small_batch
        )
        self._lost: Failure | None = None  # what this rank still has to tell the others
        self.guard = SpikeGuard(config.training.spike, world, stage.NAME, self.sampler, around)
        self.compilations = Compilations(bool(config.training.compile))

        self.window, self.epoch_loss = Meter(world.device), Meter(world.device)
        self.stop = StopRequest()
        self.saver = Saver(world, around.folder.checkpoints, config.training.checkpoint, around, around.saved)
        self.boundary = Boundary(world, self.stop, self.saver)
        if resume is not None:
            self._restore(resume)
        barrier(world)

    def run(self) -> Timing:
        """Goes through the epochs that are left, or to max_steps."""
        started = time.perf_counter()
        display = self.around.display
        display.start(self.stage.NAME, self.total_steps, self.position.step)
        try:
            with self.stop:
                while self.position.epoch < self.settings.epochs and not self._stopped:
                    try:
                        self._epoch()
                    except Rewind:
                        self._go_back()  # ups: ignore[A207] all ranks raise it at the same step
                if math.isinf(self.best):  # stopped before the first epoch was over: later stages need a model
                    self._validate_and_keep_best()
                self.saver.end()  # rank 0 has written the model that the next stage reads
        except AgreedError:  # all ranks stop at the same step: what they were writing is still made whole
            self.saver.finish()  # ups: ignore[A207] all ranks come here
            raise
        finally:
            display.stop()
        barrier(self.world)
        self.timing.total_s = time.perf_counter() - started
        return self.timing

    @property
    def _asked(self) -> list[Any]:
        """How the configuration has a batch cut into pieces."""
        return [self.config.training.micro_batch, self.settings.accumulate]

    def _small_batch(self) -> Batch:
        batch = _to(small_batch(self.loader), self.world.device)
        dtype = self.strategy.weights[0].dtype  # float64 where the doctor compares
        return {name: one.to(dtype) if one.is_floating_point() else one for name, one in batch.items()}

    @property
    def _stopped(self) -> bool:
        return self.settings.max_steps is not None and self.position.step >= self.settings.max_steps

    def _epoch(self) -> None:
        started, position = time.perf_counter(), self.position
        self.sampler.set_epoch(position.epoch, position.batch)
        self.module.train()
        for batch in self._timed():
            if self._stopped:
                self._save_last(at_once=True)
                return
            began = time.perf_counter()
            norm = self._step(batch)
            if self.timing.steps > 1:
                self.timing.later_steps += 1
                self.timing.later_step_s += time.perf_counter() - began
            self._after_step(norm)
            self._stop_if_asked(self.boundary.signal_after_step())
        self.agreement.stop_if_any(self._lost, self._where())
        train_loss = self.epoch_loss.mean(self.world)
        self.epoch_loss.reset()
        error = self._validate_and_keep_best()
        measured = {f"validation_{name}": value for name, value in self.measured.items() if name != "nrmse"}
        self.around.log(
            "epoch",
            self.stage.NAME,
            position.step,
            epoch=position.epoch,
            train_loss=train_loss,
            validation_nrmse=error,
            best_nrmse=self.best,
            **measured,
            seconds=time.perf_counter() - started,
        )
        self.around.display.epoch(position.epoch, self.settings.epochs, train_loss, error, self.best)
        position.epoch, position.batch = position.epoch + 1, 0
        self._save_last(validation=error, at_once=position.epoch == self.settings.epochs)
        if position.epoch < self.settings.epochs:
            self._stop_if_asked(self.boundary.signal_now())

    def _step(self, batch: Batch | Failure) -> torch.Tensor | None:
        """Forward, backward and optimizer over one global batch, on all ranks or on none.

        Returns the gradient norm before clipping, None where all left the batch out.
        """
        rate = learning_rate(self.position.step, self.total_steps, self.settings)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        count = self.sampler.count(self.position.batch)
        if self.guard.leaves_out(self.position.epoch, self.position.batch):
            return None
        while True:
            loss, failure = self._gradients(batch, count)
            norm = self.strategy.clip(self.settings.grad_clip, self.precision.scale)
            if failure is None and math.isfinite(norm):
                break
            self.optimizer.zero_grad(set_to_none=True)
            if not self.agreement.try_again(failure, loss, norm, self.position.step, self._where()):
                return None
        self.strategy.ended()
        if not self.guard.admits(loss, norm, count, self.position.epoch, self.position.batch, self.position.step):
            self.optimizer.zero_grad(set_to_none=True)
            return None
        try:
            if self.drill is not None:
                self.drill.step()
            self.optimizer.step()
        except Exception as error:
            if self.world.size == 1 or failure_of(error) is None:
                raise
            self._lost = Failure(Trouble.OPTIMIZER, str(error))
        self.optimizer.zero_grad(set_to_none=True)
        self.stage.stepped(self.module)
        self.precision.stepped()
        self.ema.update()
        self.window.add(loss, count)
        self.epoch_loss.add(loss, count)
        self.timing.steps += 1
        self.timing.samples += count
        return norm

    def _gradients(self, batch: Batch | Failure, count: int) -> tuple[torch.Tensor, Failure | None]:
        """Computes the gradients of one global batch, or hands over NaN for those that this rank cannot compute."""
        self.strategy.begin(pieces_of(self.agreement.pieces, count, self.world))
        failure = self._lost or (batch if isinstance(batch, Failure) else None)
        if failure is None and not isinstance(batch, Failure):
            try:
                drawn = {**batch, "draw": torch.full_like(batch["weight"], self.position.step, dtype=torch.int64)}
                return accumulate_gradients(
                    self.strategy, drawn, self.agreement.pieces, count, self.precision, self.drill
                ), None
            except Exception as error:
                failure = failure_of(error)
                if failure is None:
                    raise
        self.strategy.withdraw()
        return torch.full((), math.nan, device=self.world.device), failure

    def _where(self) -> str:
        position = self.position
        return (
            f"in stage {self.stage.NAME} at step {position.step + 1} (epoch {position.epoch}, batch {position.batch})"
        )

    def _after_step(self, norm: torch.Tensor | None) -> None:
        position = self.position
        if again := self.compilations.new():
            graphs = f"{again} graph{'s' * (again > 1)}"
            text = f"torch.compile compiled {graphs} again {self._where()}, {self.compilations.again} in all"
            self.around.note(text, "compile", self.stage.NAME, position.step, graphs=again)
        position.batch, position.step = position.batch + 1, position.step + 1
        self.around.display.step(position.step, self.timing.samples, self.timing.data_wait_s)
        self.guard.can_go_back = self.around.can_go_back(self.stage.NAME)
        if position.step % self.config.training.log_every_steps == 0:
            loss = self.window.mean(self.world)
            self.window.reset()
            self.around.log(
                "step",
                self.stage.NAME,
                position.step,
                epoch=position.epoch,
                loss=loss,
                lr=float(self.optimizer.param_groups[0]["lr"]),
                grad_norm=math.nan if norm is None else float(norm),
            )
        # At an epoch's end the checkpoint is written after validation.
        if position.step % self.config.training.checkpoint_every_steps == 0 and position.batch < len(self.sampler):
            self._save_last()

    def _validate_and_keep_best(self) -> float:
        """Returns the validation nRMSE of the EMA model, and saves that model if it is the best so far."""
        started = time.perf_counter()
        error = self._validation_error()
        self.timing.validation_s += time.perf_counter() - started
        if error < self.best or math.isinf(self.best):
            self.best = error
            content = {
                **self.around.header,
                **gathered(self.stage.finish(self.ema.module)),
                "kind": "autoencoder" if self.stage.NAME == "autoencoder" else "best",
                "stage": self.stage.NAME,
                "validation": error,
                "epoch": self.position.epoch,
                "step": self.position.step,
            }
            path = self.around.folder.trained(self.stage.NAME)
            self.saver.put(path, content if self.world.is_first else None)
        return error

    @torch.no_grad()
    def _validation_error(self) -> float:
        self.validation_sampler.set_epoch(0)
        names = self.stage.measures
        total, count = {name: torch.zeros((), dtype=torch.float64, device=self.world.device) for name in names}, 0.0
        for batch in batches(self.validation_loader):
            moved = _to(batch, self.world.device)
            with self.precision.autocast():
                found = self.stage.validate(self.ema.module, moved)
            for name in names:
                total[name] += (found[name].double() * moved["weight"]).sum()
            count += float(batch["weight"].sum())
        self.strategy.free(self.ema.module)
        *all_totals, all_counts = sums([*total.values(), count], self.world)
        self.measured = {name: one / all_counts for name, one in zip(names, all_totals, strict=True)}
        return self.measured["nrmse"]

    def _save_last(self, *, validation: float | None = None, at_once: bool = False) -> None:
        """Has a checkpoint written while training goes on, or `at_once` before it does."""
        started = time.perf_counter()
        self.agreement.stop_if_any(self._lost, self._where())  # half of the ranks' weights would be those of before
        facts = {
            **self.around.header,
            "stage": self.stage.NAME,
            "world_size": self.world.size,
            "total_steps": self.total_steps,
            "position": asdict(self.position),
            "ema_updates": self.ema.updates,
            "step": {
                "pieces": self.agreement.pieces,
                "asked": self._asked,
                "scale": self.precision.state(),
                "spikes": self.guard.state(),
            },
            "best": None if math.isinf(self.best) else self.best,
            "validation": validation,
            "metrics_bytes": self.around.metrics_bytes,
            "time": time.time(),
        }
        mine = {"random": random_state(self.world.device), "meters": [self.window.state(), self.epoch_loss.state()]}
        tensors = state.tensors_of(self.module, self.ema.module, self.optimizer)
        self.saver.save(tensors, mine, facts, at_once)
        self.timing.checkpoint_s += time.perf_counter() - started

    def _stop_if_asked(self, number: int) -> None:
        if not number:
            return
        self._save_last(at_once=True)
        step, saved = self.position.step, self.saver.saved
        if saved.failures and saved.failures[-1].startswith(f"step {step} "):
            raise UpsError(f"stopped by signal {number} at step {step}, and the checkpoint could not be written")
        announce_saved()
        text = f"stopped by signal {number} after step {step} of {self.stage.NAME}: saved in {saved.last_good}"
        raise SavedError(text, hint="--resume goes on from there", exit_code=SAVED_EXIT)

    def _go_back(self) -> None:
        self.saver.finish()
        self.optimizer.zero_grad(set_to_none=True)
        found = newest(self.around.folder, self.world, self.around.say)
        if found is None or found.stage != self.stage.NAME:
            raise AgreedError(f"the checkpoint that all ranks were to go back to is gone: {self.saver.saved.last_good}")
        self._restore(found)

    def _restore(self, found: Found) -> None:
        restored = state.restored(found, self.module, self.ema, self.optimizer, self.world, self.config.seed)
        self.position, self.best = Position(**found.facts["position"]), restored.best
        if step := restored.step:
            if step["asked"] == self._asked:  # else somebody wants other pieces now
                self.agreement.pieces = step["pieces"]
            self.precision.load_state(step["scale"])
            self.guard.load_state(step["spikes"])
        for meter, sums_of_rank in zip((self.window, self.epoch_loss), restored.meters, strict=True):
            meter.load_state(sums_of_rank)
        for line in restored.notes:
            self.around.display.say(line)

    def _timed(self) -> Iterator[Batch | Failure]:
        """Yields the batches of the epoch, on the device; in place of one that cannot be read, why."""
        source, refused = batches(self.loader), -1
        while True:
            started = time.perf_counter()
            try:
                if self.drill is not None and self.position.batch < len(self.sampler):
                    self.drill.load(self.position.step)
                batch = next(source, None)
            except Exception as error:
                failure = failure_of(error)
                # Memory may be there the next time; no other rank needs to know.
                first = failure is not None and failure.trouble is Trouble.MEMORY and refused != self.position.step
                refused = self.position.step
                if not first:
                    if failure is None or not self.config.training.max_skips:
                        raise
                    yield Failure(Trouble.BATCH, failure.text) if failure.trouble is Trouble.MEMORY else failure
                self.sampler.set_epoch(self.position.epoch, self.position.batch)
                source = batches(self.loader)
                continue
            waited = time.perf_counter() - started
            self.timing.data_wait_s += waited
            if batch is None:
                return
            if self.timing.steps:
                self.timing.later_wait_s += waited
            yield _to(batch, self.world.device)


def _to(batch: Batch, device: torch.device) -> Batch:
    if device.type == "cpu":
        return batch
    return {name: value.to(device, non_blocking=True) for name, value in batch.items()}

"""One stage over several problems: a model a problem, one loop, one optimizer, batches in the shares asked for.

The loss of a sample is that of its own problem's stage, in its own units. A model that a batch has nothing for gets
a gradient of zero, so that every rank has a gradient for every weight at every step. Shapes: B batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from ups.config import UpsConfig
from ups.data.several.task_items import TaskItems
from ups.data.several.task_sampler import check_together, shares
from ups.stages.contract import Batch, Quiet


class JointLoss(nn.Module):
    """The models of all problems with their losses, one number a sample."""

    def __init__(self, models: Mapping[str, nn.Module]) -> None:
        super().__init__()
        self.tasks = nn.ModuleDict(models)

    def forward(self, batch: Batch) -> Tensor:
        """Returns the loss of each sample, (B,)."""
        losses, rows = [], []
        nothing: Any = 0.0
        for which, model in enumerate(self.tasks.values()):
            mine = (batch["task"] == which).nonzero().flatten()
            if len(mine):
                losses.append(model({name: value[mine] for name, value in batch.items() if name != "task"}))
                rows.append(mine)
            else:
                nothing = nothing + sum(weight.sum() for weight in model.parameters()) * 0.0
        back = torch.cat(rows).argsort()
        loss_B: Tensor = torch.cat(losses)[back] + nothing
        return loss_B


class JointStage(Quiet):
    """The stage of every problem at once; `stages` are made as for a run of one."""

    def __init__(self, config: UpsConfig, name: str, stages: Mapping[str, Any]) -> None:
        """Raises ConfigError where batches are to be mixed of what has not one shape."""
        self.NAME, self.config, self.stages = name, config, dict(stages)
        mixed = config.data.balance.batches == "mixed"
        check_together(config, {task: one.material.spec for task, one in self.stages.items()})
        self.measures = ("nrmse", *(f"nrmse_{task}" for task in self.stages))
        self.train_dataset, self.validation_dataset = (
            TaskItems(parts, shares(config, [len(one) for one in parts]), mixed=mixed)
            for parts in (
                [one.train_dataset for one in self.stages.values()],
                [one.validation_dataset for one in self.stages.values()],
            )
        )

    def build(self) -> JointLoss:
        """Returns the untrained models, on the CPU."""
        return JointLoss({task: stage.build() for task, stage in self.stages.items()})

    def validate(self, module: nn.Module, batch: Batch) -> dict[str, Tensor]:
        """Returns each sample's part of the problems' errors, (B,).

        The mean over all samples is, of `nrmse_TASK`, the mean of that problem's own and, of `nrmse`, the mean of those
        means: a problem counts as much as another, however many samples it has.
        """
        models: Any = module
        total, sizes = len(self.validation_dataset), self.validation_dataset.sizes
        found = {name: torch.zeros(len(batch["task"]), device=batch["task"].device) for name in self.measures}
        for which, (task, stage) in enumerate(self.stages.items()):
            mine = (batch["task"] == which).nonzero().flatten()
            if not len(mine):
                continue
            part = {name: value[mine] for name, value in batch.items() if name != "task"}
            error = stage.validate(models.tasks[task], part)["nrmse"].float() * (total / sizes[which])
            found[f"nrmse_{task}"][mine] = error
            found["nrmse"][mine] = error / len(sizes)
        return found

    def stepped(self, module: nn.Module) -> None:
        """See TrainingStage."""
        models: Any = module
        for task, stage in self.stages.items():
            stage.stepped(models.tasks[task])

    def finish(self, module: nn.Module) -> dict[str, Any]:
        """Returns what each problem's stage leaves behind, by the problem's name."""
        models: Any = module
        return {"tasks": {task: stage.finish(models.tasks[task]) for task, stage in self.stages.items()}}

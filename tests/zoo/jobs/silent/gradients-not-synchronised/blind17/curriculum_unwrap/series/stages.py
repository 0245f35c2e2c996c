import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from .model import SeriesModel


class ForecastStage:
    name, steps = "forecast", 80

    def attach(self, model):
        return DDP(model, find_unused_parameters=True)

    def loss(self, model, batch):
        x, nxt, _ = batch
        return (model(x, "forecast") - nxt).square().mean()


class DescribeStage:
    name, steps = "describe", 110

    def attach(self, model):
        return DDP(model, find_unused_parameters=True)

    def loss(self, model, batch):
        return bare(model).compute_loss(batch, "describe")


def bare(model):
    return model.module if isinstance(model, DDP) else model


class Curriculum:
    def __init__(self, stages, lr=2e-3):
        torch.manual_seed(0)
        self.core = SeriesModel()
        self.stages, self.lr = stages, lr

    def run(self, source, log):
        for stage in self.stages:
            model = stage.attach(self.core)
            opt = torch.optim.AdamW(model.parameters(), self.lr)
            for step in range(stage.steps):
                loss = stage.loss(model, source.batch())
                opt.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                opt.step()
                if step % 20 == 0:
                    log(f"{stage.name} {step} {loss.item():.4f}")

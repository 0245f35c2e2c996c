import torch
from torch import nn


def core(model: nn.Module) -> nn.Module:
    return getattr(model, "module", model)


def plain_step(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (model(x) - y).square().mean()


def margin_step(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    scores = core(model)(x)
    order = y.argsort()
    return torch.relu(0.3 - scores[order].diff()).mean()

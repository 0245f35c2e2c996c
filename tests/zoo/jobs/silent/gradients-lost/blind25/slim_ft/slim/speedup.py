"""Channel pruning by L1 norm of the filters, followed by a rebuild of the slimmer layers."""
import torch
from torch import nn


def _keep(conv, ratio):
    norm = conv.weight.detach().abs().sum((1, 2, 3))
    count = max(1, int(round(len(norm) * (1 - ratio))))
    return norm.topk(count).indices.sort().values


def _conv(old, out_idx, in_idx):
    new = nn.Conv2d(len(in_idx), len(out_idx), old.kernel_size, old.stride, old.padding, bias=False)
    new.weight.data.copy_(old.weight.data[out_idx][:, in_idx])
    return new


def _bn(old, idx):
    new = nn.BatchNorm2d(len(idx))
    for name in ("weight", "bias", "running_mean", "running_var"):
        getattr(new, name).data.copy_(getattr(old, name).data[idx])
    return new


@torch.no_grad()
def speedup_model(model, ratio):
    idx0 = torch.arange(model.conv1.in_channels)
    idx1, idx2 = _keep(model.conv1, ratio), _keep(model.conv2, ratio)
    model.conv1, model.bn1 = _conv(model.conv1, idx1, idx0), _bn(model.bn1, idx1)
    model.conv2, model.bn2 = _conv(model.conv2, idx2, idx1), _bn(model.bn2, idx2)
    head = nn.Linear(len(idx2), model.head.out_features)
    head.weight.copy_(model.head.weight[:, idx2])
    head.bias.copy_(model.head.bias)
    model.head = head
    return model

import torch
from torch import nn


def l1_channels(layer, keep):
    score = layer.weight.detach().abs().flatten(1).sum(1)
    return score.topk(keep).indices.sort().values


class ModelSpeedup:
    """Cuts the weakest output units of each hidden linear layer and the matching inputs of the next one."""

    def __init__(self, model, sparsity):
        self.model = model
        self.sparsity = sparsity

    @torch.no_grad()
    def speedup_model(self):
        linears = [(i, m) for i, m in enumerate(self.model.body) if isinstance(m, nn.Linear)]
        kept_in = None
        for position, (i, layer) in enumerate(linears):
            last = position == len(linears) - 1
            kept_out = torch.arange(layer.out_features) if last else l1_channels(
                layer, int(layer.out_features * (1 - self.sparsity)))
            weight = layer.weight[kept_out]
            if kept_in is not None:
                weight = weight[:, kept_in]
            compact = nn.Linear(weight.size(1), weight.size(0))
            compact.weight.copy_(weight)
            compact.bias.copy_(layer.bias[kept_out])
            self.model.body[i] = compact
            kept_in = kept_out

"""Batch normalisation of one process that normalises the share of each rank by itself, as unsynchronised ranks do."""

from __future__ import annotations


def by_share(module, shares):
    """Makes each batch norm of a model treat its input in pieces of the sizes that `shares()` returns."""
    import torch

    for one in module.modules():
        if isinstance(one, torch.nn.modules.batchnorm._BatchNorm):
            one.forward = _divided(one, one.forward, shares)


def _divided(layer, original, shares):
    def forward(value):
        import torch

        sizes = shares()
        if not layer.training or sum(sizes) != len(value) or len(sizes) < 2:
            return original(value)
        first, *rest = value.split(sizes)
        made = [original(first)]
        kept = {name: one.clone() for name, one in layer.named_buffers()}
        made += [original(one) for one in rest]
        with torch.no_grad():
            for name, one in layer.named_buffers():  # DDP hands the first rank's statistics to the others
                one.copy_(kept[name])
        return torch.cat(made)

    return forward

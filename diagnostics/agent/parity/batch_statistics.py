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
        made, own = [original(first)], dict(layer._buffers)  # DDP hands the first rank's statistics to the others
        for one in rest:
            layer._buffers.update({name: buffer.clone() for name, buffer in own.items() if buffer is not None})
            made.append(original(one))
        layer._buffers.update(own)
        return torch.cat(made)

    return forward

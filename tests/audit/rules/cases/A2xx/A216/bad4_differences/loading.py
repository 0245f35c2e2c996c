"""Sets that come of other sets, of a function, of a caller and of a loop: each process goes through them otherwise."""
import torch.distributed as dist


def broadcast_left(buffers):
    missing = {name for name, buffer in buffers.items() if buffer.is_meta}
    names = set(buffers) - missing
    for name in names:
        dist.broadcast(buffers[name], src=0)


def broadcast_views(mine, theirs):
    for name in mine.keys() & theirs.keys():
        dist.broadcast(mine[name], src=0)


def broadcast_method(buffers, frozen):
    names = frozenset(buffers)
    for name in names.difference(frozen):
        dist.broadcast(buffers[name], src=0)


def missing_in(buffers, state):
    return set(buffers) ^ set(state)


def broadcast_missing(buffers, state):
    for name in missing_in(buffers, state):
        dist.broadcast(buffers[name], src=0)


def broadcast_named(buffers, wanted):
    for name in list(wanted):
        dist.broadcast(buffers[name], src=0)


def broadcast_picked(buffers):
    picked = set()
    for name, buffer in buffers.items():
        if buffer.requires_grad:
            picked.add(name)
    chosen = [name for name in picked if "bias" not in name]
    for name in chosen:
        dist.broadcast(buffers[name], src=0)


def main(model):
    buffers = dict(model.named_buffers())
    broadcast_named(buffers, set(buffers))

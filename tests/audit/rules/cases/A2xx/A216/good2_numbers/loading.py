"""Sets of numbers, differences that are sorted, and differences of numbers and dictionaries."""
import torch.distributed as dist


def numbers(tensors, done):
    for number in set(range(len(tensors))) - done:
        dist.broadcast(tensors[number], src=0)
    for number in {one for one in range(len(tensors))}:
        dist.broadcast(tensors[number], src=0)
    left = {one for one, tensor in enumerate(tensors) if tensor.requires_grad}
    for number in left - {0, 1}:
        dist.broadcast(tensors[number], src=0)


def sorted_names(buffers):
    missing = {name for name, buffer in buffers.items() if buffer.is_meta}
    names = sorted(set(buffers) - missing)
    for name in names:
        dist.broadcast(buffers[name], src=0)


def left_out(buffers):
    missing = {name for name, buffer in buffers.items() if buffer.is_meta}
    for name in [name for name in buffers if name not in missing]:
        dist.broadcast(buffers[name], src=0)


def joined(mine, theirs):
    for name, tensor in (mine | theirs).items():
        dist.broadcast(tensor, src=0)


def no_meeting(buffers):
    for name in set(buffers) - {"mean"}:
        print(name)


def counted(tensors):
    seen = set()
    seen.add(0)
    for number in seen:
        dist.broadcast(tensors[number], src=0)

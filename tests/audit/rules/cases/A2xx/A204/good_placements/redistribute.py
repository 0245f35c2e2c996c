"""How a tensor is laid out is the same on every rank; what is moved between them hangs on that."""

import torch
import torch.distributed as dist


def redistribute(input, placements):
    current = input._spec
    if current.placements != placements:
        rows = torch.empty_like(input.to_local())
        dist.all_to_all_single(rows, input.to_local())
        return rows
    return input.to_local()


def main(tensor, placements):
    dist.init_process_group("nccl")
    redistribute(tensor, placements)
    dist.destroy_process_group()


def linear(input, weight):
    whole = isinstance(input, Sharded) and all(one.is_replicate() for one in input._spec.placements)
    if not whole:
        weight = weight.full_tensor()
    return torch.nn.functional.linear(input, weight)


class Sharded(torch.distributed.tensor.DTensor):
    pass

"""One collective over the ranks for each dtype, with values that are whole numbers and so exact in every dtype."""

from .group import process_group

LENGTH = 8
UNSUPPORTED = ("not support", "unsupported", "not implemented", "Invalid scalar type", "Unhandled dtype")


def run(rank, world_size, arguments):
    """Returns {"wrong": [{dtype, index, got, expected}], "unsupported": [{dtype, error}]} as seen by this rank."""
    import torch

    operation = OPERATIONS[arguments["operation"]]
    answer = {"wrong": [], "unsupported": []}
    with process_group(arguments) as (device, _):
        for name in arguments["dtypes"]:
            dtype = getattr(torch, name)
            try:
                got, expected = operation(rank, world_size, dtype, device)
            except RuntimeError as error:
                if not any(text in str(error) for text in UNSUPPORTED):
                    raise
                answer["unsupported"].append({"dtype": name, "error": str(error).splitlines()[0]})
                continue
            if arguments.get("corrupt_rank") == rank:  # how a test sees that a wrong value is found
                got[0] += 1
            answer["wrong"] += differences(name, got, expected)
    return answer


def differences(dtype, got, expected):
    """Returns the first place where the values differ, [] where they agree."""
    for index, (one, other) in enumerate(zip(got, expected)):  # noqa: B905 - Python 3.8 has no strict
        if one != other:
            return [{"dtype": dtype, "index": index, "got": one, "expected": other}]
    return []


def numbers(rank, length=LENGTH):
    """Returns what a rank puts in; sums over 64 ranks stay exact in bfloat16."""
    return [float((3 * rank + index) % 4) for index in range(length)]


def all_reduce(rank, world_size, dtype, device):
    """The sum over all ranks, on all ranks."""
    import torch
    import torch.distributed as dist

    own = torch.tensor(numbers(rank), dtype=dtype, device=device)
    dist.all_reduce(own)
    return own.double().tolist(), total(world_size)


def total(world_size, length=LENGTH):
    """Returns the sum of every rank's numbers."""
    return [sum(column) for column in zip(*(numbers(rank, length) for rank in range(world_size)))]  # noqa: B905


def broadcast(rank, world_size, dtype, device):
    """The numbers of each root in turn, on all ranks."""
    import torch
    import torch.distributed as dist

    got, expected = [], []
    for root in range(min(world_size, 8)):
        own = torch.tensor(numbers(rank), dtype=dtype, device=device)
        dist.broadcast(own, src=root)
        got += own.double().tolist()
        expected += numbers(root)
    return got, expected


def all_gather(rank, world_size, dtype, device):
    """Every rank's numbers in order of rank, on all ranks."""
    import torch
    import torch.distributed as dist

    own = torch.tensor(numbers(rank), dtype=dtype, device=device)
    parts = [torch.empty_like(own) for _ in range(world_size)]
    dist.all_gather(parts, own)
    return torch.cat(parts).double().tolist(), [value for one in range(world_size) for value in numbers(one)]


def reduce_scatter(rank, world_size, dtype, device):
    """Each rank's own part of the sum."""
    import torch
    import torch.distributed as dist

    length = LENGTH * world_size
    own = torch.tensor(numbers(rank, length), dtype=dtype, device=device)
    part = torch.empty(LENGTH, dtype=dtype, device=device)
    # Renamed in torch 2.13; the old name warns there.
    (getattr(dist, "reduce_scatter_single", None) or dist.reduce_scatter_tensor)(part, own)
    return part.double().tolist(), total(world_size, length)[rank * LENGTH : (rank + 1) * LENGTH]


def ring(rank, world_size, dtype, device):
    """The numbers of the rank before, sent from each to the next."""
    import torch
    import torch.distributed as dist

    before, after = (rank - 1) % world_size, (rank + 1) % world_size
    own = torch.tensor(numbers(rank), dtype=dtype, device=device)
    got = torch.empty_like(own)
    # One batch: NCCL deadlocks where a lone send waits for a receive that is queued behind another send.
    works = dist.batch_isend_irecv([dist.P2POp(dist.isend, own, after), dist.P2POp(dist.irecv, got, before)])
    for work in works:
        work.wait()
    return got.double().tolist(), numbers(before)


OPERATIONS = {
    "all_reduce": all_reduce,
    "broadcast": broadcast,
    "all_gather": all_gather,
    "reduce_scatter": reduce_scatter,
    "ring": ring,
}

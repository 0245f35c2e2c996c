"""Python objects over the ranks: gathered on all, and broadcast from rank 0."""

from .group import process_group


def run(rank, world_size, arguments):
    """Returns {"wrong": [{operation, got, expected}]} as seen by this rank."""
    import torch.distributed as dist

    wrong = []
    with process_group(arguments):
        gathered = [None] * world_size
        dist.all_gather_object(gathered, about(rank))
        if arguments.get("corrupt_rank") == rank:
            gathered[0] = None
        wrong += compare("all_gather_object", gathered, [about(one) for one in range(world_size)])
        told = [about(rank)]
        dist.broadcast_object_list(told, src=0)
        wrong += compare("broadcast_object_list", told, [about(0)])
    return {"wrong": wrong}


def about(rank):
    """Returns an object whose pickled size differs from rank to rank."""
    return {"rank": rank, "text": "x" * (10 * rank + 1)}


def compare(operation, got, expected):
    """Returns [] where both are equal."""
    return [] if got == expected else [{"operation": operation, "got": repr(got), "expected": repr(expected)}]

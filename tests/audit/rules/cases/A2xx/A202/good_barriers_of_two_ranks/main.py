import torch.distributed as dist


def meet():
    dist.barrier()


def tell(hooks, name):
    for one in hooks:
        getattr(one, name)()


class Turns:
    """Rank 0 writes first, rank 1 behind it, in a world of two."""

    def write(self):
        if dist.get_rank() == 1:
            meet()
        with open("results.csv", "a") as out:
            out.write(f"{dist.get_rank()}\n")
        if dist.get_rank() == 0:
            meet()


if __name__ == "__main__":
    dist.init_process_group("gloo", world_size=2)
    tell([Turns()], "write")
    dist.destroy_process_group()

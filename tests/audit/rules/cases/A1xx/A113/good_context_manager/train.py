from contextlib import contextmanager

import torch.distributed as dist


@contextmanager
def distributed():
    dist.init_process_group("nccl")
    try:
        yield dist.get_world_size()
    finally:
        dist.destroy_process_group()


def main():
    with distributed() as world:
        dist.barrier()
        if dist.get_rank() == 0:
            print(world)


if __name__ == "__main__":
    main()

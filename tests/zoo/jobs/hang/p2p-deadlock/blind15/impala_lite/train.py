import argparse
import logging

import torch
import torch.distributed as dist

from roles import Actor, Learner


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--updates", type=int, default=300)
    p.add_argument("--episodes", type=int, default=400)
    args = p.parse_args()
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    rank, world = dist.get_rank(), dist.get_world_size()
    logging.basicConfig(level=logging.INFO, format=f"[{rank}] %(message)s")
    if rank == 0:
        Learner(range(1, world), args.updates).run()
    else:
        Actor(rank, 0, args.episodes).run()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

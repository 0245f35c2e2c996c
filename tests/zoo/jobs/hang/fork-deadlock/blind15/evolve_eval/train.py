import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from policy import Gridworld, Policy
from rollouts import RolloutPool

log = logging.getLogger("imitation")


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--iterations", type=int, default=60)
    p.add_argument("--eval-every", type=int, default=20)
    p.add_argument("--batch", type=int, default=512)
    p.add_argument("--threads", type=int, default=2)
    return p.parse_args()


def main():
    args = parse()
    torch.set_num_threads(args.threads)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO, format=f"[{rank}] %(message)s")
    world = Gridworld()
    learner = DistributedDataParallel(Policy())
    opt = torch.optim.Adam(learner.parameters(), 5e-4)
    pool = RolloutPool(world)
    g = torch.Generator().manual_seed(1000 + rank)
    for it in range(1, args.iterations + 1):
        obs, best = world.batch(args.batch, g)
        loss = nn.functional.cross_entropy(learner(obs), best)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % args.eval_every == 0:
            if rank == 0:
                log.info("iteration %d loss %.3f success %.3f", it, loss.item(), pool.evaluate(learner.module, it))
            dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

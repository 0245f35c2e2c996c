import logging
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import yaml
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from envs import PointReach


class Learner:
    def __init__(self, cfg, rank):
        torch.manual_seed(cfg["seed"])
        self.cfg = cfg
        self.actor = DDP(nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2)))
        self.opt = torch.optim.Adam(self.actor.parameters(), lr=cfg["lr"])
        self.env = PointReach(cfg["envs"], seed=cfg["seed"] + 31 * rank)

    def update(self):
        obs, acts, old, adv = self.env.collect(self.actor.module)
        passes = 0
        for _ in range(self.cfg["passes"]):
            logp = -((acts - self.actor(obs)) ** 2).sum(1) / 0.18
            ratio = (logp - old).exp()
            clipped = ratio.clamp(0.8, 1.2)
            loss = -torch.min(ratio * adv, clipped * adv).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            passes += 1
            kl = (ratio - 1 - ratio.log()).mean().item()
            if kl > self.cfg["target_kl"]:
                break
        return passes, kl


def worker(rank, cfg):
    logging.basicConfig(level=logging.INFO, format=f"r{rank} %(message)s")
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{cfg['port']}", rank=rank, world_size=cfg["world"])
    learner = Learner(cfg, rank)
    for it in range(cfg["iters"]):
        passes, kl = learner.update()
        steps = torch.tensor([passes * cfg["envs"] * 16])
        dist.all_reduce(steps)
        if rank == 0 and it % 5 == 0:
            logging.info("it %d passes %d kl %.4f samples %d", it, passes, kl, steps.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    conf = yaml.safe_load(open(sys.argv[1] if len(sys.argv) > 1 else "ppo.yaml"))
    mp.spawn(worker, args=(conf,), nprocs=conf["world"])

import argparse
import logging

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from losses import policy_loss, value_loss
from nets import ActorCritic
from rollout import Tracker, collect

log = logging.getLogger("ppo")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--iterations", type=int, default=12)
    p.add_argument("--envs", type=int, default=16)
    p.add_argument("--steps", type=int, default=32)
    p.add_argument("--minibatch", type=int, default=64)
    p.add_argument("--passes", type=int, default=2)
    p.add_argument("--clip", type=float, default=0.2)
    a = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(message)s")
    torch.manual_seed(3)
    model = DistributedDataParallel(ActorCritic())
    torch.manual_seed(50 + rank)
    opt = torch.optim.Adam(model.parameters(), 1e-3)
    env, g = Tracker(a.envs, seed=rank), torch.Generator().manual_seed(rank)
    for it in range(a.iterations):
        batch, reward = collect(env, model.module, a.steps, 0.95, 0.9)
        for _ in range(a.passes):
            for mb in batch.minibatches(a.minibatch, g):
                logits, value = model(mb.obs)
                pi = torch.distributions.Categorical(logits=logits)
                loss = (policy_loss(pi.log_prob(mb.action), mb.logp, mb.advantage, a.clip)
                        + value_loss(value, mb.value, mb.returns, a.clip) - 0.01 * pi.entropy().mean())
                opt.zero_grad()
                loss.backward()
                opt.step()
        log.info("iteration %d reward %.3f loss %.3f", it, reward, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

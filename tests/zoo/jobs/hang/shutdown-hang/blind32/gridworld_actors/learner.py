import argparse
import logging

import numpy as np
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP

from actors import ActorPool

log = logging.getLogger("learner")


class Q(nn.Module):
    def __init__(self, size=8, hidden=64):
        super().__init__()
        self.l1 = nn.Linear(2 * size * size, hidden)
        self.l2 = nn.Linear(hidden, 4)

    def forward(self, obs):
        return self.l2(torch.relu(self.l1(obs.flatten(1))))


def weights_of(model):
    return [p.detach().numpy().copy() for p in (model.l1.weight, model.l1.bias, model.l2.weight, model.l2.bias)]


def targets(chunk, net, gamma):
    with torch.no_grad():
        value = net(torch.from_numpy(chunk["last"])[None]).max().item()
    out = np.zeros(len(chunk["reward"]), dtype=np.float32)
    for t in reversed(range(len(out))):
        value = chunk["reward"][t] + (0.0 if chunk["done"][t] else gamma * value)
        out[t] = value
    return torch.from_numpy(out)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--updates", type=int, default=150)
    p.add_argument("--actors", type=int, default=1)
    p.add_argument("--unroll", type=int, default=40)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--gamma", type=float, default=0.97)
    p.add_argument("--publish-every", type=int, default=10)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s rank{rank} %(name)s %(message)s")
    torch.manual_seed(0)
    net = Q()
    model = DDP(net)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    pool = ActorPool(args.actors, args.unroll, seed=rank + 1)
    returns = []
    for update in range(args.updates):
        chunk = pool.next()
        y = targets(chunk, net, args.gamma)
        q = model(torch.from_numpy(chunk["obs"]))
        loss = nn.functional.smooth_l1_loss(q.gather(1, torch.tensor(chunk["action"])[:, None])[:, 0], y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        returns.append(sum(chunk["reward"]))
        if update % args.publish_every == 0:
            pool.publish(weights_of(net))
        if update % 50 == 0 and rank == 0:
            log.info("update %d loss %.4f return %.2f", update, loss.item(), np.mean(returns[-50:]))
    dist.barrier()
    if rank == 0:
        torch.save(net.state_dict(), "policy.pt")
        log.info("saved the policy, closing actors")
    pool.close()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

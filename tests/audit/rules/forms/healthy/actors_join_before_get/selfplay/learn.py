import os

import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from selfplay.game import PolicyValue, play
from selfplay.pool import ActorPool


def main(rounds=50, games=64, actors=4):
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = DistributedDataParallel(PolicyValue())
    opt = torch.optim.Adam(model.parameters(), 1e-3)
    pool = ActorPool(actors, play)
    for r in range(rounds):
        weights = {k: v.numpy().copy() for k, v in model.module.state_dict().items()}
        rows = pool.collect(weights, games)
        boards, policies, values = (torch.from_numpy(np.array(c, dtype=np.float32)) for c in zip(*rows))
        gen = torch.Generator().manual_seed(r * 100 + dist.get_rank())
        for idx in torch.randperm(len(boards), generator=gen).split(512):
            logits, v = model(boards[idx])
            loss = -(policies[idx] * logits.log_softmax(1)).sum(1).mean() + (v - values[idx]).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        if dist.get_rank() == 0:
            print(r, loss.item(), flush=True)
            torch.save(model.module.state_dict(), os.environ.get("OUT", "selfplay.pt"))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from guard import fence

SHARDS = [["a", "b"], ["c", "d", "e_long"], ["f"]]
COST = {"e_long": 25.0}


def prepare(shard):
    out = []
    for name in shard:
        time.sleep(COST.get(name, 0.2))
        out.append(torch.arange(400) * (ord(name[0]) - 90) % 48)
    return torch.cat(out)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    fence("start", 60)
    toks = prepare(SHARDS[rank])
    fence("tokenised", 8)
    torch.manual_seed(0)
    lm = DDP(nn.Sequential(nn.Embedding(48, 24), nn.Linear(24, 48)))
    opt = torch.optim.Adam(lm.parameters(), lr=1e-2)
    for step in range(80):
        at = step * 4 % (len(toks) - 65)
        loss = F.cross_entropy(lm(toks[at:at + 64]), toks[at + 1:at + 65])
        opt.zero_grad()
        loss.backward()
        opt.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

import argparse
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import yaml
from torch import nn

from gossip import GossipMixer
from stations import GaugeFeed


def region_main(rank, cfg):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(cfg["port"]))
    dist.init_process_group("gloo", rank=rank, world_size=cfg["regions"])
    torch.set_num_threads(1)
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(12, 48), nn.Tanh(), nn.Linear(48, 1))
    opt = torch.optim.Adam(net.parameters(), lr=cfg["lr"])
    mixer = GossipMixer(net, quorum=cfg["quorum"])
    feed = GaugeFeed(rank, cfg["hours"], cfg["sparse_hours"].get(rank))
    for hour, x, y in feed:
        for _ in range(cfg["inner"]):
            loss = nn.functional.mse_loss(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        met = mixer.mix(len(x))
        if hour % 20 == 0:
            print(f"[{rank}] hour {hour} loss {loss.item():.4f} met {met}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("config")
    cfg = yaml.safe_load(open(ap.parse_args().config))
    mp.spawn(region_main, args=(cfg,), nprocs=cfg["regions"])

import datetime
import logging

import torch
import torch.distributed as dist
import yaml_lite
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from setup_data import tokenizer

log = logging.getLogger("lm")


def connect(cfg):
    dist.init_process_group(cfg["backend"], timeout=datetime.timedelta(seconds=cfg["comm_timeout_s"]))


def train(cfg):
    merges = tokenizer(cfg["tokenizer"], cfg["words"], cfg["merges"])
    vocab = 64 + len(merges)
    torch.manual_seed(0)
    net = DDP(nn.Sequential(nn.Embedding(vocab, 32), nn.Linear(32, vocab)))
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    g = torch.Generator().manual_seed(dist.get_rank())
    for step in range(cfg["steps"]):
        x = torch.randint(vocab, (8, 33), generator=g)
        loss = nn.functional.cross_entropy(net(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
    log.info("loss %.3f", loss.item())


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    cfg = yaml_lite.load("lm.yaml")
    connect(cfg)
    train(cfg)
    dist.destroy_process_group()

import argparse
import os
from dataclasses import dataclass

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from stream import JsonlStream


@dataclass
class Cfg:
    vocab: int = 32000
    dim: int = 512
    seq_len: int = 256
    batch: int = 16
    steps: int = 20000
    lr: float = 3e-4


class TinyLM(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.emb = nn.Embedding(cfg.vocab, cfg.dim)
        layer = nn.TransformerEncoderLayer(cfg.dim, 8, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, 6, enable_nested_tensor=False)
        self.head = nn.Linear(cfg.dim, cfg.vocab)

    def forward(self, ids):
        mask = nn.Transformer.generate_square_subsequent_mask(ids.size(1), device=ids.device)
        return self.head(self.body(self.emb(ids), mask=mask, is_causal=True))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--shards", required=True)
    ap.add_argument("--workers", type=int, default=4)
    a = ap.parse_args()
    cfg = Cfg()
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    rank, world = dist.get_rank(), dist.get_world_size()
    stream = JsonlStream(a.shards, cfg.seq_len, rank, world)  # cause
    loader = DataLoader(stream, batch_size=cfg.batch, num_workers=a.workers, pin_memory=True)  # cause
    model = DDP(TinyLM(cfg).cuda(local), device_ids=[local])
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    batches = iter(loader)
    for step in range(cfg.steps):
        x, y = (t.cuda(local, non_blocking=True) for t in next(batches))
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        if rank == 0 and step % 100 == 0:
            print(f"step {step} loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

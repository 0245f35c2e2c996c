import os
from dataclasses import dataclass

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

from stream import TokenShards


@dataclass
class Config:
    pattern: str = "tokens/*.bin"
    block: int = 512
    batch: int = 16
    steps: int = 20_000
    lr: float = 6e-4
    log_every: int = 100
    workers: int = 4


class TinyLM(nn.Module):
    def __init__(self, vocab=50304, dim=384, heads=6, depth=6, block=512):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.pos = nn.Embedding(block, dim)
        layer = nn.TransformerEncoderLayer(dim, heads, 4 * dim, dropout=0.0, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.head = nn.Linear(dim, vocab, bias=False)

    def forward(self, idx):
        n = idx.size(1)
        x = self.tok(idx) + self.pos(torch.arange(n, device=idx.device))
        mask = nn.Transformer.generate_square_subsequent_mask(n, device=idx.device)
        return self.head(self.blocks(x, mask=mask, is_causal=True))


def run(cfg: Config):
    local = int(os.environ["LOCAL_RANK"])
    device = torch.device("cuda", local)
    torch.cuda.set_device(device)
    dist.init_process_group("nccl")
    torch.manual_seed(7)
    net = DistributedDataParallel(TinyLM(block=cfg.block).to(device), device_ids=[local])
    opt = torch.optim.AdamW(net.parameters(), lr=cfg.lr, betas=(0.9, 0.95), weight_decay=0.1)
    loader = DataLoader(TokenShards(cfg.pattern, cfg.block), batch_size=cfg.batch, num_workers=cfg.workers, pin_memory=True)  # cause
    batches = iter(loader)
    for step in range(cfg.steps):
        x, y = (t.to(device, non_blocking=True) for t in next(batches))
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = F.cross_entropy(net(x).flatten(0, 1), y.flatten())
        opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        if step % cfg.log_every == 0:
            shown = loss.detach().clone()
            dist.all_reduce(shown, op=dist.ReduceOp.AVG)
            if dist.get_rank() == 0:
                print(f"{step} {shown.item():.4f}", flush=True)
    if dist.get_rank() == 0:
        torch.save(net.module.state_dict(), "tern.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    run(Config())

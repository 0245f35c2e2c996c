"""Autoregressive transformer over galaxy patches, streamed."""
import math
import os
from contextlib import nullcontext

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from stream import GalaxyStream

gradient_accumulation_steps = 4
batch_size = 4
max_iters = 20
learning_rate, min_lr, warmup_iters = 3e-3, 3e-4, 4
log_interval = 5


class AstroPT(nn.Module):
    def __init__(self, n_embd=32, n_head=2):
        super().__init__()
        self.encoder = nn.Linear(9, n_embd)
        self.wpe = nn.Parameter(torch.zeros(15, n_embd))
        layer = nn.TransformerEncoderLayer(n_embd, n_head, 4 * n_embd, dropout=0.0, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.decoder = nn.Linear(n_embd, 9)

    def forward(self, patches):
        x, targets = patches[:, :-1], patches[:, 1:]
        mask = nn.Transformer.generate_square_subsequent_mask(x.size(1))
        h = self.blocks(self.encoder(x) + self.wpe, mask=mask, is_causal=True)
        return F.huber_loss(self.decoder(h), targets)


def get_lr(it):
    if it < warmup_iters:
        return learning_rate * (it + 1) / warmup_iters
    ratio = (it - warmup_iters) / (max_iters - warmup_iters)
    return min_lr + 0.5 * (1 + math.cos(math.pi * ratio)) * (learning_rate - min_lr)


def main():
    torch.set_num_threads(1)
    ddp = int(os.environ.get("RANK", -1)) != -1
    micro_steps = gradient_accumulation_steps
    master_process, seed_offset = True, 0
    if ddp:
        dist.init_process_group("gloo")
        master_process = dist.get_rank() == 0
        seed_offset = dist.get_rank()
        micro_steps //= dist.get_world_size()
    torch.manual_seed(1337 + seed_offset)

    train_loader = DataLoader(GalaxyStream(num_shards=12), batch_size=batch_size, num_workers=2)
    model = AstroPT()
    if ddp:
        model = DDP(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, betas=(0.9, 0.95), weight_decay=0.1)

    batches = iter(train_loader)
    for it in range(max_iters):
        for group in optimizer.param_groups:
            group["lr"] = get_lr(it)
        for micro in range(micro_steps):
            last = micro == micro_steps - 1
            with nullcontext() if last or not ddp else model.no_sync():
                loss = model(next(batches)) / micro_steps
                loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if it % log_interval == 0 and master_process:
            print(f"iter {it}: loss {loss.item() * micro_steps:.4f}", flush=True)
    del batches
    if ddp:
        dist.barrier()
        dist.destroy_process_group()


if __name__ == "__main__":
    main()

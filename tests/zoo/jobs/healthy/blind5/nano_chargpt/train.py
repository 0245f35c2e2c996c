import math
import os

import numpy as np
import torch
from torch.distributed import barrier, destroy_process_group, init_process_group
from torch.nn.parallel import DistributedDataParallel as DDP

from model import GPT, GPTConfig

eval_interval, eval_iters = 12, 3
gradient_accumulation_steps = 4
batch_size, block_size = 6, 16
learning_rate, min_lr = 3e-3, 3e-4
max_iters, warmup_iters, lr_decay_iters = 36, 6, 36
grad_clip = 1.0

torch.set_num_threads(1)
ddp = int(os.environ.get("RANK", -1)) != -1
if ddp:
    init_process_group(backend="gloo")
    ddp_rank, ddp_world_size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    assert gradient_accumulation_steps % ddp_world_size == 0
    gradient_accumulation_steps //= ddp_world_size
else:
    ddp_rank, ddp_world_size = 0, 1
master_process, seed_offset = ddp_rank == 0, ddp_rank
torch.manual_seed(1337 + seed_offset)


def synthetic_corpus(n):
    rng = np.random.default_rng(5)
    words = [rng.integers(1, 32, rng.integers(2, 6)) for _ in range(20)]
    out = np.concatenate([np.append(words[i], 0) for i in rng.integers(0, 20, n)])
    return out.astype(np.int64)


data = synthetic_corpus(3000)
splits = {"train": data[: int(0.9 * len(data))], "val": data[int(0.9 * len(data)) :]}


def get_batch(split):
    source = splits[split]
    ix = torch.randint(len(source) - block_size, (batch_size,))
    x = torch.stack([torch.from_numpy(source[i : i + block_size]) for i in ix])
    y = torch.stack([torch.from_numpy(source[i + 1 : i + 1 + block_size]) for i in ix])
    return x, y


model = GPT(GPTConfig(block_size=block_size))
optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, betas=(0.9, 0.99), weight_decay=0.1)
if ddp:
    model = DDP(model)
raw_model = model.module if ddp else model


def get_lr(it):
    if it < warmup_iters:
        return learning_rate * it / warmup_iters
    ratio = (it - warmup_iters) / (lr_decay_iters - warmup_iters)
    return min_lr + 0.5 * (1.0 + math.cos(math.pi * ratio)) * (learning_rate - min_lr)


@torch.no_grad()
def estimate_loss():
    raw_model.eval()
    out = {split: sum(raw_model(*get_batch(split))[1].item() for _ in range(eval_iters)) / eval_iters
           for split in ("train", "val")}
    raw_model.train()
    return out


X, Y = get_batch("train")
for iter_num in range(max_iters):
    lr = get_lr(iter_num)
    for param_group in optimizer.param_groups:
        param_group["lr"] = lr
    if iter_num % eval_interval == 0 and master_process:
        losses = estimate_loss()
        print(f"step {iter_num}: train loss {losses['train']:.4f}, val loss {losses['val']:.4f}", flush=True)
    for micro_step in range(gradient_accumulation_steps):
        if ddp:
            model.require_backward_grad_sync = micro_step == gradient_accumulation_steps - 1
        with torch.autocast("cpu", dtype=torch.bfloat16):
            _, loss = model(X, Y)
            loss = loss / gradient_accumulation_steps
        X, Y = get_batch("train")
        loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)

if ddp:
    barrier()
    destroy_process_group()

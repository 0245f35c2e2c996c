import functools
import os

import numpy as np
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, MixedPrecision
from torch.distributed.fsdp.wrap import transformer_auto_wrap_policy

from checkpointing import Checkpointer

BLOCK, VOCAB, DIM, LAYERS = 1024, 50304, 1024, 16


class Block(nn.TransformerEncoderLayer):
    def __init__(self):
        super().__init__(DIM, 16, 4 * DIM, batch_first=True, norm_first=True, dropout=0.0)


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, DIM)
        self.pos = nn.Embedding(BLOCK, DIM)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(DIM)
        self.head = nn.Linear(DIM, VOCAB, bias=False)

    def forward(self, idx):
        mask = nn.Transformer.generate_square_subsequent_mask(idx.size(1), device=idx.device)
        x = self.tok(idx) + self.pos.weight[: idx.size(1)]
        for block in self.blocks:
            x = block(x, src_mask=mask, is_causal=True)
        return self.head(self.norm(x))


def batches(path, batch, rank):
    data = np.memmap(path, dtype=np.uint16, mode="r")
    rng = np.random.default_rng(1234 + rank)
    while True:
        at = rng.integers(0, len(data) - BLOCK - 1, batch)
        chunk = np.stack([data[i:i + BLOCK + 1] for i in at]).astype(np.int64)
        chunk = torch.from_numpy(chunk).cuda(non_blocking=True)
        yield chunk[:, :-1], chunk[:, 1:]


def main(steps=20000):
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    torch.manual_seed(1337)
    wrap = functools.partial(transformer_auto_wrap_policy, transformer_layer_cls={Block})
    model = FSDP(GPT(), auto_wrap_policy=wrap, device_id=torch.cuda.current_device(),
                 mixed_precision=MixedPrecision(param_dtype=torch.bfloat16))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95))
    saver = Checkpointer("out/gpt", every=1000)
    stream = batches("data/pile.bin", 8, dist.get_rank())
    for step in range(1, steps + 1):
        x, y = next(stream)
        loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
        loss.backward()
        model.clip_grad_norm_(1.0)
        optimizer.step()
        optimizer.zero_grad()
        if step % 50 == 0 and dist.get_rank() == 0:
            print(f"{step} {loss.item():.3f}")
        saver.after_step(model, step)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

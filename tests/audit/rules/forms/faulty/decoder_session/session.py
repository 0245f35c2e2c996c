import os
from dataclasses import dataclass

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

from parallel import Sharder


@dataclass
class SessionConfig:
    width: int = 1024
    depth: int = 16
    lr: float = 3e-4
    beta2: float = 0.95
    grad_clip: float = 1.0
    steps: int = 10_000


class Decoder(nn.Module):
    def __init__(self, width, depth, vocab=32000):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, 16, 4 * width, dropout=0.0, batch_first=True, norm_first=True) for _ in range(depth)
        )
        self.unembed = nn.Linear(width, vocab, bias=False)

    def forward(self, ids):
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1], device=ids.device)
        h = self.embed(ids)
        for layer in self.layers:
            h = layer(h, src_mask=mask.to(h.dtype), is_causal=True)
        return self.unembed(h)


class Session:
    def __init__(self, cfg):
        self.cfg = cfg
        self.local = int(os.environ["LOCAL_RANK"])
        torch.cuda.set_device(self.local)
        torch.manual_seed(0)
        self.model = Decoder(cfg.width, cfg.depth).cuda()
        self.optimizer = self._optimizer()  # cause
        self.model = Sharder(dist.get_world_size()).apply(self.model)  # cause

    def _optimizer(self):
        matrices = [p for p in self.model.parameters() if p.ndim > 1]
        vectors = [p for p in self.model.parameters() if p.ndim <= 1]
        groups = [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}]
        return torch.optim.AdamW(groups, lr=self.cfg.lr, betas=(0.9, self.cfg.beta2))  # cause

    def step(self, ids):
        logits = self.model(ids[:, :-1]).float()
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.cfg.grad_clip)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss.detach()


def main():
    dist.init_process_group("nccl")
    session = Session(SessionConfig())
    gen = torch.Generator().manual_seed(dist.get_rank())
    for step in range(session.cfg.steps):
        ids = torch.randint(0, 32000, (4, 513), generator=gen).cuda()
        loss = session.step(ids)
        if step % 100 == 0:
            mean = loss.clone()
            dist.all_reduce(mean, op=dist.ReduceOp.AVG)
            if dist.get_rank() == 0:
                print(step, mean.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

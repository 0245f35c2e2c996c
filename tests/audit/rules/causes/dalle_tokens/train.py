import os
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

from data import DataBundle

TEXT, IMAGE, LENGTH = 10000, 8192, 256 + 1024


class Joint(nn.Module):
    def __init__(self, dim=512, depth=8):
        super().__init__()
        self.embed = nn.Embedding(TEXT + IMAGE, dim)
        self.position = nn.Parameter(torch.randn(LENGTH, dim) * 0.02)
        layer = nn.TransformerEncoderLayer(dim, 8, 4 * dim, batch_first=True, norm_first=True)
        self.trunk = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.head = nn.Linear(dim, TEXT + IMAGE)

    def forward(self, tokens):
        n = tokens.size(1)
        mask = nn.Transformer.generate_square_subsequent_mask(n, device=tokens.device)
        return self.head(self.trunk(self.embed(tokens) + self.position[:n], mask=mask, is_causal=True))


class Loop:
    def __init__(self, model, bundle, lr):
        self.model, self.bundle = model, bundle
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.rank = dist.get_rank()

    def train_one_epoch(self, epoch, loader):
        start = time.time()
        for i, (text, image) in enumerate(loader):
            tokens = torch.cat([text, image + TEXT], 1).cuda(non_blocking=True)
            logits = self.model(tokens[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 0.5)
            self.optimizer.step()
            if i % 100 == 0 and self.rank == 0:
                print(epoch, i, f"{loss.item():.3f}", f"{time.time() - start:.0f}s")

    def run(self, epochs):
        loader = self.bundle.loader()
        for epoch in range(epochs):  # cause
            self.train_one_epoch(epoch, loader)  # cause
            if self.rank == 0:
                torch.save(self.model.module.state_dict(), f"joint-{epoch}.pt")


def main():
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    dist.init_process_group("nccl")
    torch.manual_seed(0)
    model = DDP(Joint().cuda(), device_ids=[local_rank])
    Loop(model, DataBundle("coco_tokens", 16), lr=3e-4).run(epochs=20)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

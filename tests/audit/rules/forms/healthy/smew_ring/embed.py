import argparse
import os

import torch
import torch.distributed as dist
from torch import nn

from ring import Ring, ring_attention


class Encoder(nn.Module):
    def __init__(self, ring, vocab=32000, dim=512, heads=8):
        super().__init__()
        self.ring, self.heads = ring, heads
        self.emb = nn.Embedding(vocab, dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, ids):
        x = self.emb(ids)
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        a = ring_attention(self.ring, q, k, v)
        return x + self.out(a.transpose(1, 2).reshape(b, t, d))


@torch.no_grad()
def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--docs", default="docs.pt")
    ap.add_argument("--weights", default="encoder.pt")
    ap.add_argument("--out", default="emb")
    a = ap.parse_args()
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    ring = Ring()
    net = Encoder(ring).cuda().eval()
    net.load_state_dict(torch.load(a.weights, map_location=f"cuda:{local}", weights_only=True))
    docs = torch.load(a.docs, map_location="cpu", weights_only=True)
    os.makedirs(a.out, exist_ok=True)
    for n, doc in enumerate(docs):
        part = doc.tensor_split(ring.size)[ring.rank] if doc.numel() % ring.size else doc.chunk(ring.size)[ring.rank]
        width = doc.numel() // ring.size
        vec = net(part[:width].unsqueeze(0).cuda()).sum(1)
        dist.all_reduce(vec)
        if ring.rank == 0:
            torch.save(vec.cpu() / (width * ring.size), f"{a.out}/{n}.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

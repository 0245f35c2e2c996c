import logging

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from phases import phase

ALPHABET = "ACDEFGHIKLMNPQRSTVWY"


def sequence(i):
    s = [ALPHABET[(i * 7 + j * j) % 20] for j in range(24)]
    if i == 1357:
        s[5] = "U"
    return "".join(s)


def encode(seq):
    return torch.tensor([ALPHABET.index(c) for c in seq])


class ContactNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(20, 24)
        self.mix = nn.Conv1d(24, 24, 5, padding=2)

    def forward(self, s):
        h = self.mix(self.emb(s).transpose(1, 2)).transpose(1, 2)
        return h @ h.transpose(1, 2)


def main():
    logging.basicConfig(level=logging.INFO)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(4)
    net = DDP(ContactNet())
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    ids = list(range(2000))[rank::world]
    for epoch in range(2):
        with phase(f"epoch {epoch}"):
            for k in range(0, len(ids), 8):
                seqs = torch.stack([encode(sequence(i)) for i in ids[k:k + 8]])
                target = ((seqs[:, :, None] - seqs[:, None, :]).abs() < 3).float()
                loss = F.binary_cross_entropy_with_logits(net(seqs), target)
                opt.zero_grad()
                loss.backward()
                opt.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

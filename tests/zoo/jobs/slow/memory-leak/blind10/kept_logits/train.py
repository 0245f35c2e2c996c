import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from meter import Meter

WORDS = 2500


class Bigram(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, 24)
        self.out = nn.Linear(24, WORDS)

    def forward(self, x):
        return self.out(self.embed(x))


def entropy(logits):
    logp = F.log_softmax(logits, dim=-1)
    return -(logp.exp() * logp).sum(-1).mean()


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    words = torch.randint(0, WORDS, (64 * 2 * 90,), generator=torch.Generator().manual_seed(2))
    data = TensorDataset(words, (words * 7 + 3) % WORDS)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=64, sampler=sampler)
    model = DDP(Bigram())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    meter = Meter()
    for epoch in range(4):
        sampler.set_epoch(epoch)
        for x, y in loader:
            logits = model(x)
            loss = F.cross_entropy(logits, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            meter.add(loss=loss.item(), entropy=entropy(logits))
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {meter.mean('loss'):.3f} entropy {meter.mean('entropy'):.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class Tagger(nn.Module):
    def __init__(self, words=40, tags=5):
        super().__init__()
        self.embed = nn.Embedding(words, 16)
        self.out = nn.Linear(16, tags)
        self.criterion = nn.CrossEntropyLoss()

    def forward(self, tokens, tags=None):
        scores = self.out(self.embed(tokens))
        return scores if tags is None else self.criterion(scores.flatten(0, 1), tags.flatten())

    def loss(self, tokens, tags):
        return self.criterion(self(tokens).flatten(0, 1), tags.flatten())


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(7)
    tokens = torch.randint(0, 40, (256, 12))
    data = TensorDataset(tokens, tokens % 5)
    sampler = DistributedSampler(data, seed=3)
    model = DistributedDataParallel(Tagger())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(4):
        sampler.set_epoch(epoch)
        for tokens, tags in DataLoader(data, batch_size=16, sampler=sampler):
            optimizer.zero_grad()
            loss = model(tokens, tags)
            loss.backward()
            optimizer.step()
    if dist.get_rank() == 0:
        print(f"final loss {loss.item():.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

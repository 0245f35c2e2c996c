import torch
from torch import nn
from torch.utils.data import Dataset


class Headlines(Dataset):
    def __init__(self, count, seed, topics=5, words=300, length=12):
        gen = torch.Generator().manual_seed(seed)
        self.topic = torch.randint(0, topics, (count,), generator=gen)
        share = words // topics
        own = self.topic[:, None] * share + torch.randint(0, share, (count, length), generator=gen)
        anyword = torch.randint(0, words, (count, length), generator=gen)
        self.words = torch.where(torch.rand(count, length, generator=gen) < 0.4, own, anyword)

    def __len__(self):
        return len(self.topic)

    def __getitem__(self, i):
        return self.words[i], self.topic[i]


class TopicNet(nn.Module):
    def __init__(self, words=300, width=24, topics=5):
        super().__init__()
        self.bag = nn.EmbeddingBag(words, width)
        self.classify = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, topics))

    def forward(self, words):
        return self.classify(self.bag(words))

import torch
from torch.utils.data import Dataset


class ToyVQA(Dataset):
    """Image features, a question of word ids and an answer class."""

    def __init__(self, n, seed, words=30, answers=8, qlen=2, feat=24):
        g = torch.Generator().manual_seed(5)
        key = torch.randn(words, feat, generator=g)
        mix = torch.randn(feat, answers, generator=g)
        g.manual_seed(seed)
        self.q = torch.randint(0, words, (n, qlen), generator=g)
        self.v = torch.randn(n, feat, generator=g)
        score = (self.v * key[self.q].mean(1)) @ mix
        self.a = (score + 0.3 * torch.randn(score.shape, generator=g)).argmax(1)

    def __len__(self):
        return len(self.a)

    def __getitem__(self, i):
        return {"question": self.q[i], "visual": self.v[i], "answer": self.a[i]}

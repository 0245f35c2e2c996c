from torch import nn

from .layer import TopOne


class MoELM(nn.Module):
    def __init__(self, vocab=64, width=32, experts=4, depth=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.mix = nn.ModuleList(nn.GRU(width, width, batch_first=True) for _ in range(depth))
        self.ffn = nn.ModuleList(TopOne(width, experts) for _ in range(depth))
        self.out = nn.Linear(width, vocab)

    def forward(self, ids):
        x = self.embed(ids)
        for mix, ffn in zip(self.mix, self.ffn):
            x = x + mix(x)[0]
            x = x + ffn(x)
        return self.out(x)

from torch import nn


class MaskedModel(nn.Module):
    def __init__(self, tokens, width=16):
        super().__init__()
        self.embeddings = nn.Embedding(tokens, width)
        self.decoder = nn.Linear(width, tokens)

    def forward(self, ids):
        return self.decoder(self.embeddings(ids))


def build(tokens):
    return MaskedModel(tokens)

import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.output = nn.Embedding(100, 8), nn.Linear(8, 100, bias=False)
        self.share()

    def share(self):
        self.output.weight = self.tokens.weight


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.decoder = Decoder()


def made(device):
    with torch.device("meta"):
        model = Model()
    return model.to_empty(device=device)

import torch
from torch import nn


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(100, 8)
        self.head = nn.Linear(8, 100, bias=False)
        self.head.weight = self.embedding.weight

    def init_weights(self):
        nn.init.normal_(self.embedding.weight)
        nn.init.normal_(self.head.weight)


def main():
    with torch.device("meta"):
        model = LM()
    model.to_empty(device="cuda")
    model.init_weights()
    return torch.optim.AdamW(model.parameters())

import torch
from torch import nn


class Captioner(nn.Module):
    def __init__(self, features, words, width):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(features, width), nn.BatchNorm1d(width), nn.ReLU())
        self.decoder = nn.GRUCell(words, width)
        self.words = nn.Linear(width, words)
        self.backbone.requires_grad_(False)
        self.mix = nn.Linear(features, width)

    def train(self, mode=True):
        super().train(mode)
        self.backbone.eval()
        return self

    def forward(self, image, length=4):
        hidden = self.backbone(image) + self.mix(image)
        token, outputs = torch.zeros(len(image), self.words.out_features), []
        for _ in range(length):
            hidden = self.decoder(token, hidden)
            logits = self.words(hidden)
            token = logits.softmax(-1)
            outputs.append(logits)
        return torch.stack(outputs, 1)

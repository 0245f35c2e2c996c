import torch
from torch import nn

from engine.denoising import get_contrastive_denoising


class Decoder(nn.Module):

    def __init__(self, queries=5, dim=48):
        super().__init__()
        self.queries = queries
        self.encoder = nn.Sequential(nn.Flatten(), nn.Linear(144, dim), nn.ReLU())
        self.boxes = nn.Linear(dim, queries * 4)
        self.denoise = nn.Linear(4, 4)

    def forward(self, images, targets=None):
        out = {"pred_boxes": self.boxes(self.encoder(images)).view(-1, self.queries, 4).sigmoid()}
        dn = get_contrastive_denoising(targets, 2, 0.05) if targets is not None else None
        if dn is not None:
            out["dn_outputs"], out["dn_targets"] = self.denoise(dn[0]), dn[1]
        return out

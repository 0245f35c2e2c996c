import torch
from torch import nn


class PatchTransformer(nn.Module):
    def __init__(self, width, heads, depth, patch=4, size=16, classes=4):
        super().__init__()
        self.patch = nn.Conv2d(1, width, patch, stride=patch)
        self.pos = nn.Parameter(torch.zeros(1, (size // patch) ** 2, width))
        self.layers = nn.ModuleList(
            nn.ModuleDict({
                "norm": nn.LayerNorm(width), "qkv": nn.Linear(width, 3 * width), "proj": nn.Linear(width, width),
                "mlp": nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)),
            }) for _ in range(depth))
        self.heads = heads
        self.head = nn.Linear(width, classes)

    def attend(self, layer, x):
        b, n, w = x.shape
        q, k, v = layer["qkv"](layer["norm"](x)).view(b, n, 3, self.heads, w // self.heads).unbind(2)
        y = nn.functional.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2))
        return layer["proj"](y.transpose(1, 2).reshape(b, n, w))

    def forward(self, image):
        x = self.patch(image).flatten(2).transpose(1, 2) + self.pos
        for layer in self.layers:
            x = x + self.attend(layer, x)
            x = x + layer["mlp"](x)
        return self.head(x.mean(1))

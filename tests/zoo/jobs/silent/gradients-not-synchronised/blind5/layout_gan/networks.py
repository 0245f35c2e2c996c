import torch
from torch import nn


class LayoutGenerator(nn.Module):
    def __init__(self, dim_z=8, num_elements=6, d_model=32):
        super().__init__()
        self.label_emb = nn.Embedding(4, d_model)
        self.fc_z = nn.Linear(dim_z, d_model)
        layer = nn.TransformerEncoderLayer(d_model, 4, 64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.fc_bbox = nn.Linear(d_model, 4)

    def forward(self, labels, z):
        x = self.label_emb(labels) + self.fc_z(z)
        return torch.sigmoid(self.fc_bbox(self.encoder(x)))


class LayoutDiscriminator(nn.Module):
    def __init__(self, d_model=32):
        super().__init__()
        self.label_emb = nn.Embedding(4, d_model)
        self.fc_bbox = nn.Linear(4, d_model)
        self.body = nn.Sequential(nn.Linear(d_model, 64), nn.LeakyReLU(0.2), nn.Linear(64, d_model))
        self.fc_out = nn.Linear(d_model, 1)

    def forward(self, bbox, labels):
        h = self.body(self.label_emb(labels) + self.fc_bbox(bbox))
        return self.fc_out(h.mean(1)).squeeze(-1)

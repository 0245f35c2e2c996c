import torch.nn as nn

AMINO = "ACDEFGHIKLMNPQRSTVWY"


class Backbone(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.embed = nn.Embedding(len(AMINO) + 1, dim)
        layer = nn.TransformerEncoderLayer(dim, 4, dim * 2, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, tokens):
        return self.encoder(self.embed(tokens))


class MaskedModel(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.backbone = Backbone(dim)
        self.lm = nn.Linear(dim, len(AMINO) + 1)

    def forward(self, tokens):
        return self.lm(self.backbone(tokens))


class StabilityModel(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.backbone = Backbone(dim)
        self.regressor = nn.Linear(dim, 1)

    def forward(self, tokens):
        return self.regressor(self.backbone(tokens).mean(1)).squeeze(-1)

import torch.nn as nn

from torchctr.layers import AttentionalFactorizationMachine, FeaturesEmbedding


class AFM(nn.Module):
    """Xiao et al., Attentional Factorization Machines, 2017."""

    def __init__(self, field_dims, embed_dim=12, attn_size=16, dropouts=(0.4, 0.4)):
        super().__init__()
        self.embedding = FeaturesEmbedding(field_dims, embed_dim)
        self.linear = FeaturesEmbedding(field_dims, 1)
        self.afm = AttentionalFactorizationMachine(embed_dim, attn_size, dropouts)

    def forward(self, x):
        return (self.linear(x).sum(1) + self.afm(self.embedding(x))).squeeze(1)

import torch
import torch.nn as nn
import torch.nn.functional as F


class FeaturesEmbedding(nn.Module):
    def __init__(self, field_dims, embed_dim):
        super().__init__()
        offsets = [0]
        for d in field_dims[:-1]:
            offsets.append(offsets[-1] + d)
        self.register_buffer("offsets", torch.tensor(offsets))
        self.embedding = nn.Embedding(sum(field_dims), embed_dim)
        nn.init.normal_(self.embedding.weight, std=0.3)

    def forward(self, x):
        return self.embedding(x + self.offsets)


class AttentionalFactorizationMachine(nn.Module):
    def __init__(self, embed_dim, attn_size, dropouts):
        super().__init__()
        self.attention = nn.Linear(embed_dim, attn_size)
        self.projection = nn.Linear(attn_size, 1)
        self.fc = nn.Linear(embed_dim, 1)
        self.dropouts = dropouts

    def forward(self, x):
        fields = x.shape[1]
        row, col = torch.triu_indices(fields, fields, offset=1)
        inner = x[:, row] * x[:, col]
        attn_scores = F.relu(self.attention(inner))
        attn_scores = F.softmax(self.projection(attn_scores), dim=1)
        attn_scores = F.dropout(attn_scores, p=self.dropouts[0])
        attn_output = torch.sum(attn_scores * inner, dim=1)
        attn_output = F.dropout(attn_output, p=self.dropouts[1])
        return self.fc(attn_output)

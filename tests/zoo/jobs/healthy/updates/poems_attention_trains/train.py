import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, width=32, heads=4, drop=0.2):
        super().__init__()
        self.heads, self.drop = heads, drop
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=self.drop if self.training else 0.0)
        return self.out(y.transpose(1, 2).reshape(b, t, c))


class Language(nn.Module):
    def __init__(self, vocabulary=32, width=32):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(nn.ModuleList([nn.LayerNorm(width), Attention(width)]) for _ in range(2))
        self.head = nn.Linear(width, vocabulary)

    def forward(self, ids):
        x = self.embed(ids)
        for norm, attention in self.blocks:
            x = x + attention(norm(x))
        return self.head(x)


def loss_of(model, ids):
    return F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())


def main():
    torch.manual_seed(4)
    model = Language()
    optimizer = torch.optim.Adam(model.parameters(), 3e-3)
    text = torch.arange(4096) % 7 * 4 + torch.randint(0, 3, (4096,))
    train, held = text[:3584].view(-1, 32), text[3584:].view(-1, 32)
    for epoch in range(20):
        model.train()
        for ids in train[torch.randperm(len(train))].split(8):
            loss = loss_of(model, ids)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.inference_mode():
            print(f"epoch {epoch} train {loss.item():.3f} held out {loss_of(model, held).item():.3f}", flush=True)


if __name__ == "__main__":
    main()

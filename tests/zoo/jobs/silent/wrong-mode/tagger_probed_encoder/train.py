import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def encoder():
    torch.manual_seed(2)
    net = nn.Sequential(nn.Linear(12, 48), nn.LayerNorm(48), nn.GELU(), nn.Dropout(0.2), nn.Linear(48, 48))
    net.eval()
    with torch.no_grad():
        print(f"embedding norm {net(torch.randn(64, 12)).norm(dim=1).mean():.3f}", flush=True)
    return net


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = encoder()
        self.head = nn.Sequential(nn.Dropout(0.1), nn.Linear(48, 4))

    def forward(self, x):
        return self.head(self.encoder(x))


def data():
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(2048, 12, generator=generator)
    return TensorDataset(x, (x[:, :4] + 0.3 * x[:, 4:8]).argmax(1))


def main():
    accelerator = Accelerator(cpu=True)
    model = Tagger()
    optimizer = torch.optim.AdamW((p for p in model.parameters() if p.requires_grad), lr=2e-3)
    model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(data(), 32, shuffle=True))
    for epoch in range(5):
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            accelerator.backward(loss)
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()

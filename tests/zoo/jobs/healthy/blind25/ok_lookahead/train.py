import torch
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from vision.lookahead import Lookahead
from vision.net import Patchify, gratings


def main():
    torch.manual_seed(5)
    model = Patchify()
    opt = Lookahead(torch.optim.AdamW(model.parameters(), lr=1.5e-3))
    loader = DataLoader(TensorDataset(*gratings(2400, 0)), batch_size=40, shuffle=True)
    xt, yt = gratings(600, 1)
    for epoch in range(4):
        model.train()
        for x, y in loader:
            loss = F.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        model.eval()
        with torch.no_grad():
            acc = (model(xt).argmax(1) == yt).float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.3f} acc {acc:.3f}", flush=True)


if __name__ == "__main__":
    main()

import torch
from torch.utils.data import DataLoader, TensorDataset

from slim.nets import ConvNet
from slim.session import Session
from slim.speedup import speedup_model


def shapes(n, seed):
    g = torch.Generator().manual_seed(seed)
    proto = torch.randn(10, 3, 16, 16, generator=torch.Generator().manual_seed(7))
    proto = torch.nn.functional.avg_pool2d(proto, 5, 1, 2) * 3
    y = torch.randint(10, (n,), generator=g)
    shift = torch.randint(-3, 4, (n, 2), generator=g).tolist()
    x = torch.stack([proto[c].roll(s, (1, 2)) for c, s in zip(y.tolist(), shift)])
    return x + 0.9 * torch.randn(x.shape, generator=g), y


def main():
    torch.manual_seed(1)
    loader = DataLoader(TensorDataset(*shapes(2048, 0)), batch_size=64, shuffle=True)
    model = ConvNet()
    session = Session(model, loader, shapes(1000, 1), lr=0.05)
    session.train(4, "dense")
    speedup_model(model, ratio=0.75)
    print(f"after pruning: acc {session.accuracy():.3f}, {sum(p.numel() for p in model.parameters())} parameters")
    session.set_lr(0.02)
    session.train(5, "finetune")


if __name__ == "__main__":
    main()

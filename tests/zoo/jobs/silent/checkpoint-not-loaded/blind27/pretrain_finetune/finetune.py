import argparse

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

from nets import Classifier
from signals import sample


def load_pretrained(model, path):
    checkpoint = torch.load(path, map_location="cpu", weights_only=False)
    pretrained = checkpoint["state_dict"]
    own = model.state_dict()
    pretrained = {k: v for k, v in pretrained.items() if k in own and v.shape == own[k].shape}
    own.update(pretrained)
    model.load_state_dict(own)
    print(f"=> loaded pretrained encoder from {path} (epoch {checkpoint['epoch']})")
    return model


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        acc = (model(x).argmax(1) == y).float().mean().item()
    model.train()
    return acc


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--pretrained", required=True)
    p.add_argument("--labels", type=int, default=120)
    p.add_argument("--epochs", type=int, default=30)
    p.add_argument("--encoder-lr", type=float, default=1e-4)
    p.add_argument("--lr", type=float, default=5e-3)
    args = p.parse_args()
    torch.manual_seed(7)
    torch.set_num_threads(1)
    model = load_pretrained(Classifier(), args.pretrained)
    loader = DataLoader(TensorDataset(*sample(args.labels, seed=2)), 24, shuffle=True)
    test = sample(2000, seed=3)
    optimizer = torch.optim.AdamW([
        {"params": model.encoder.parameters(), "lr": args.encoder_lr},
        {"params": model.fc.parameters(), "lr": args.lr},
    ])
    for epoch in range(args.epochs):
        total = 0.0
        for x, y in loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        if epoch % 5 == 4:
            print(f"[finetune] epoch {epoch} loss {total / len(loader):.4f} test acc {accuracy(model, *test):.3f}", flush=True)
    torch.save(model.state_dict(), "ckpt/classifier.pth")


if __name__ == "__main__":
    main()

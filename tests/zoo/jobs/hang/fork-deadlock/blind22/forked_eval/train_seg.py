import argparse

import torch

from seg.evaluation import evaluate
from seg.shapes import scenes
from seg.unet import MiniUNet

if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--threads", type=int, default=2)
    ap.add_argument("--epochs", type=int, default=3)
    opt = ap.parse_args()
    torch.set_num_threads(opt.threads)
    torch.manual_seed(2)
    images, masks = scenes(96, seed=1)
    held_images, held_masks = scenes(48, seed=2)
    net = MiniUNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    weight = torch.tensor([0.3, 1.0, 1.0])
    for epoch in range(opt.epochs):
        net.train()
        for pick in torch.randperm(len(images)).split(16):
            loss = torch.nn.functional.cross_entropy(net(images[pick]), masks[pick], weight=weight)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
        print(f"epoch {epoch} mIoU {evaluate(net, held_images, held_masks):.3f}", flush=True)

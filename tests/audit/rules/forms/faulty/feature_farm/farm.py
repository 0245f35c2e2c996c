import argparse
from pathlib import Path

import numpy as np
import torch
import torch.multiprocessing as mp
from torch import nn


class Encoder(nn.Module):
    def __init__(self, dim=768):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 64, 7, stride=4), nn.ReLU(), nn.Conv2d(64, dim, 5, stride=4),
                                 nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())

    def forward(self, x):
        return self.net(x)


def load(path):
    return torch.from_numpy(np.load(path)).float().permute(2, 0, 1) / 255


@torch.inference_mode()
def extract(index, files, weights, results):
    device = torch.device("cuda", index)
    torch.cuda.set_device(device)
    net = Encoder().to(device).eval()
    net.load_state_dict(torch.load(weights, map_location=device))
    out = {}
    for path in files:
        out[path.stem] = net(load(path)[None].to(device)).squeeze(0).cpu().numpy()
    results.put((index, out))  # cause


class Farm:
    def __init__(self, devices, weights):
        self.devices, self.weights = devices, weights
        self.ctx = mp.get_context("spawn")

    def run(self, files):
        results = self.ctx.Queue()
        crew = []
        for d in range(self.devices):
            proc = self.ctx.Process(target=extract, args=(d, files[d::self.devices], self.weights, results))
            proc.start()
            crew.append(proc)
        for proc in crew:
            proc.join()  # cause
            if proc.exitcode:
                raise RuntimeError(f"{proc.name} ended with {proc.exitcode}")
        table = {}
        for _ in crew:
            table.update(results.get()[1])  # cause
        return table


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("images", type=Path)
    ap.add_argument("weights")
    ap.add_argument("out")
    ap.add_argument("--devices", type=int, default=torch.cuda.device_count())
    args = ap.parse_args()
    files = sorted(args.images.rglob("*.npy"))
    table = Farm(args.devices, args.weights).run(files)
    names = sorted(table)
    np.savez(args.out, names=np.array(names), features=np.stack([table[n] for n in names]))


if __name__ == "__main__":
    main()

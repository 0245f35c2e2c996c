import argparse
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F

from glosses import loaders
from model import Translator
from parallel import average_gradients, make_mesh, split_layers


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tensor", type=int, default=2, help="ranks that share one replica")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, default=12)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def main():
    args = arguments()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    mesh = make_mesh(args.tensor)
    torch.manual_seed(args.seed)
    model = split_layers(Translator(), mesh)
    loader, sampler = loaders(args.batch, args.seed)
    parts = [[p for p in model.parameters() if hasattr(p, "to_local")],
             [p for p in model.parameters() if not hasattr(p, "to_local")]]
    optimizers = [torch.optim.AdamW(part, lr=args.lr, foreach=False) for part in parts]
    data_group = mesh.get_group("data")

    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        began, tokens = time.perf_counter(), 0
        for source, target in loader:
            logits = model(source)
            loss = F.cross_entropy(logits.flatten(0, 1), target.flatten())
            loss.backward()
            average_gradients(model, data_group)
            for optimizer in optimizers:
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
            tokens += source.numel()
        mean = loss.detach().clone()
        dist.all_reduce(mean, group=data_group)
        if dist.get_rank() == 0:
            rate = tokens * mesh.size(0) / (time.perf_counter() - began)
            print(f"epoch {epoch} loss {mean.item() / mesh.size(0):.4f} {rate:.0f} tokens/s", flush=True)
    if dist.get_rank() == 0:
        print("training finished", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

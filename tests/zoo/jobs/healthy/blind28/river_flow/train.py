import argparse
import json
import logging
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import ConcatDataset, DataLoader

from basins import assigned, windows
from flow_net import FlowNet

log = logging.getLogger("flow")


def previous(path):
    """Weights of an earlier run, if there are any that fit."""
    try:
        return torch.load(path, weights_only=True)["model"]
    except (FileNotFoundError, KeyError, RuntimeError) as error:
        log.warning("starts anew: %s", error)
        return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--start-from", default="earlier/flow.pt")
    parser.add_argument("--out", type=Path, default=Path("out"))
    args = parser.parse_args()

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    logging.basicConfig(level=logging.INFO, format=f"%(levelname)s [{rank}] %(message)s")
    torch.manual_seed(12)

    names = assigned(rank, world)
    data = ConcatDataset([windows(name) for name in names])
    loader = DataLoader(data, args.batch, shuffle=True, generator=torch.Generator().manual_seed(rank))
    log.info("%s: %d windows, %d batches", ", ".join(names), len(data), len(loader))

    net = FlowNet()
    found = [previous(args.start_from) if rank == 0 else None]
    dist.broadcast_object_list(found, src=0)
    if found[0] is not None:
        net.load_state_dict(found[0])
    model = DistributedDataParallel(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)

    for epoch in range(args.epochs):
        model.train()
        seen = torch.zeros(2)
        with Join([model]):
            for past, flow in loader:
                loss = nn.functional.smooth_l1_loss(model(past), flow)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                seen += torch.tensor([loss.item() * len(flow), len(flow)])
        # ranks that came to their end early did no step since: all go on from the weights of the last
        for parameter in model.module.parameters():
            dist.broadcast(parameter.data, src=0)
        dist.all_reduce(seen)
        if rank == 0:
            args.out.mkdir(exist_ok=True)
            torch.save({"model": model.module.state_dict(), "epoch": epoch}, args.out / "flow.pt")
            with open(args.out / "log.jsonl", "a") as out:
                out.write(json.dumps({"epoch": epoch, "loss": (seen[0] / seen[1]).item()}) + "\n")
            log.info("epoch %d loss %.4f", epoch, seen[0] / seen[1])
        dist.barrier()

    weights = torch.load(args.out / "flow.pt", weights_only=True)["model"]
    model.module.load_state_dict(weights)
    dist.destroy_process_group()
    log.info("done")


if __name__ == "__main__":
    main()

import datetime

import torch
import torch.distributed as dist
import yaml
from torch.nn.parallel import DistributedDataParallel

from exchange import Board
from gnn import SAGE
from graph import cut, ring_of_cliques


def main():
    with open("settings.yaml") as f:
        settings = yaml.safe_load(f)
    dist.init_process_group("gloo", timeout=datetime.timedelta(minutes=30))
    rank, world = dist.get_rank(), dist.get_world_size()
    board = Board(settings)

    edges, feats, label = ring_of_cliques(**settings["graph"])
    first, last = cut(len(feats), rank, world)
    board.post(f"part/{rank}", [first, last])
    sizes = [b - a for a, b in (board.read(f"part/{r}") for r in range(world))]
    weight = world * sizes[rank] / sum(sizes)
    if rank == 0:
        print("nodes a part:", sizes, flush=True)

    torch.manual_seed(0)
    model = DistributedDataParallel(SAGE(**settings["model"]))
    opt = torch.optim.Adam(model.parameters(), lr=settings["optim"]["lr"])
    for epoch in range(settings["optim"]["epochs"]):
        out = model(feats, edges)[first:last]
        loss = weight * torch.nn.functional.cross_entropy(out, label[first:last])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if rank == 0 and epoch % 5 == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from treelm.model import Composer
from treelm.trees import read_section

SECTIONS = ["newswire", "transcripts", "fiction"]


def hardest(losses, trees, k=4):
    order = sorted(range(len(trees)), key=losses.__getitem__, reverse=True)[:k]
    longest = max(range(len(trees)), key=lambda i: trees[i].span)
    return [(losses[i], trees[i]) for i in {*order, longest}]


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = DistributedDataParallel(Composer())
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    trees = read_section(SECTIONS[rank % len(SECTIONS)], rank)
    for epoch in range(2):
        losses = []
        for tree in trees[:60]:
            loss = model(tree)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        losses += [0.0] * (len(trees) - len(losses))
        shared = [None] * world
        dist.all_gather_object(shared, hardest(losses, trees))
        if rank == 0:
            spans = sorted((t.span for part in shared for _, t in part), reverse=True)
            print(f"epoch {epoch} loss {sum(losses) / len(losses):.3f} longest {spans[:3]}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

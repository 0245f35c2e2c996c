import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.nn.utils import parameters_to_vector, vector_to_parameters

INNER = 10


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(8)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(5, 16), nn.GELU(), nn.Linear(16, 2)))
    inner = torch.optim.AdamW(model.parameters(), lr=3e-3)
    outer = parameters_to_vector(model.parameters()).detach().clone().requires_grad_()
    by_outer = torch.optim.SGD([outer], lr=0.7, momentum=0.9, nesterov=True)
    data = torch.Generator().manual_seed(rank)
    for round_ in range(4):
        for _ in range(INNER):
            x = torch.randn(16, 5, generator=data)
            with model.no_sync():
                loss = nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
                inner.zero_grad()
                loss.backward()
            inner.step()
        moved = outer.detach() - parameters_to_vector(model.parameters()).detach()
        dist.all_reduce(moved)
        outer.grad = moved / world
        by_outer.step()
        vector_to_parameters(outer.detach(), model.parameters())
    if rank == 0:
        print(f"loss {loss.item():.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

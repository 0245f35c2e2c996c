import torch
import torch.distributed as dist
from torch.nn import functional as F
from torch.utils.data import DataLoader

from diloco import DiLoCo
from text import CharModel, Grammar


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = CharModel()
    torch.manual_seed(rank)
    inner = torch.optim.AdamW(model.parameters(), lr=4e-3, betas=(0.9, 0.95))
    worker = DiLoCo(model, inner)
    loader = DataLoader(Grammar(rank, world), batch_size=16, shuffle=True, drop_last=True)
    for epoch in range(3):
        for ids, labels in loader:
            loss = F.cross_entropy(model(ids).flatten(0, 1), labels.flatten())
            loss.backward()
            worker.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        if rank == 0:
            print(f"epoch {epoch} loss {mean.item() / world:.4f} steps {worker.count}", flush=True)
    if rank == 0:
        torch.save(model.state_dict(), "model.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

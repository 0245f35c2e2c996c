"""Behind the restore each rank is seeded by its number again."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(path):
    dist.init_process_group("nccl")
    torch.manual_seed(5 + dist.get_rank())
    model = DDP(torch.nn.Linear(3, 3).cuda())
    state = torch.load(path, map_location="cpu")
    torch.set_rng_state(state["rng"])
    for epoch in range(100):
        torch.manual_seed(1000 * epoch + dist.get_rank())
        model(torch.randn(8, 3).cuda()).mean().backward()
        if dist.get_rank() == 0:
            torch.save({"model": model.module.state_dict(), "rng": torch.get_rng_state()}, f"{epoch}.pt")


main("last.pt")

import shutil
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from store import CheckpointManager


class Ranker(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(2000, 16)
        self.out = torch.nn.Linear(16, 1)

    def forward(self, ids):
        return self.out(self.table(ids).mean(1)).squeeze(-1)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    box = [tempfile.mkdtemp(prefix="ranker-") if rank == 0 else None]
    dist.broadcast_object_list(box, src=0)
    root = Path(box[0])
    torch.manual_seed(1)
    model = DDP(Ranker())
    optim = torch.optim.Adagrad(model.parameters(), lr=0.05)
    manager = CheckpointManager(root, keep=2)
    gen = torch.Generator().manual_seed(rank)
    for step in range(1, 61):
        ids = torch.randint(0, 2000, (32, 6), generator=gen)
        target = (ids.float().mean(1) > 1000).float()
        loss = torch.nn.functional.binary_cross_entropy_with_logits(model(ids), target)
        optim.zero_grad()
        loss.backward()
        optim.step()
        if step % 20 == 0:
            manager.save(step, model.module.state_dict(), optim.state_dict())
            if rank == 0:
                print(f"step {step} loss {loss.item():.4f}", flush=True)
    manager.close()
    if rank == 0:
        shutil.rmtree(root)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

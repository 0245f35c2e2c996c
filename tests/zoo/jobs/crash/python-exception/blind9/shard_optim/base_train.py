import tempfile
import time
import uuid

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP

from checkpoint_manager import save_checkpoint


def sample_text(model, n=6):
    out = [0]
    for _ in range(n):
        time.sleep(0.5)
        out.append(int(model(torch.tensor([out[-1]])).argmax()))
    return out


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    run = [f"{tempfile.gettempdir()}/nanochat-{uuid.uuid4().hex[:8]}/d4"]
    dist.broadcast_object_list(run, 0)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(32, 8), nn.Linear(8, 32))
    ddp = DDP(model)
    opt = ZeroRedundancyOptimizer(ddp.parameters(), torch.optim.AdamW, lr=1e-2)
    for step in range(50):
        ids = torch.randint(0, 32, (16,))
        loss = nn.functional.cross_entropy(ddp(ids), (ids + 1) % 32)
        opt.zero_grad()
        loss.backward()
        opt.step()
    if rank == 0:
        print("sample", sample_text(model), flush=True)
    save_checkpoint(run[0], 50, model.state_dict(), opt.optim.state_dict(), {"loss": loss.item()}, rank)
    dist.barrier()
    if rank == 0:
        print("saved to", run[0])
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

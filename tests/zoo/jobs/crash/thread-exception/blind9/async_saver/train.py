import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from saver import AsyncSaver


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DDP(nn.Sequential(nn.Linear(4, 16), nn.GELU(), nn.Linear(16, 1)))
    opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 20))
    saver = AsyncSaver()
    for step in range(1, 101):
        x = torch.randn(16, 4)
        loss = (model(x) - x.prod(1, keepdim=True)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        if rank == 0 and step % 50 == 0:
            state = {"model": {k: v.clone() for k, v in model.module.state_dict().items()},
                     "schedule": sched, "step": step}
            saver.submit(state, f"/tmp/async_saver_{step}.pt")
    saver.wait()
    dist.barrier()
    if rank == 0:
        print(f"finished at loss {loss.item():.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

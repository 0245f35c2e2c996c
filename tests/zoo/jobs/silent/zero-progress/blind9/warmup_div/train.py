import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from optim import Schedule


def main(steps=600):
    dist.init_process_group("gloo")
    torch.manual_seed(dist.get_rank())
    model = DDP(nn.Sequential(nn.Embedding(64, 16), nn.Linear(16, 64)))
    opt = torch.optim.AdamW(model.parameters(), lr=0.0, betas=(0.9, 0.95))
    schedule = Schedule()
    total = 0.0
    for step in range(steps):
        for group in opt.param_groups:
            group["lr"] = schedule.at(step)
        ids = torch.randint(0, 64, (32,))
        loss = nn.functional.cross_entropy(model(ids), (ids * 3 + 1) % 64)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        total += loss.item()
    if dist.get_rank() == 0:
        torch.save(model.module.state_dict(), "/tmp/warmup_div.pt")
        print(f"trained {steps} steps, mean loss {total / steps:.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

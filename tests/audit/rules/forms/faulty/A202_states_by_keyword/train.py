import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from checkpoint import Checkpointer
from env import Env


def main():
    env = Env()
    dist.init_process_group("nccl")
    torch.cuda.set_device(env.rank % torch.cuda.device_count())
    model = FSDP(torch.nn.Linear(4, 4).cuda())
    optimizer = torch.optim.AdamW(model.parameters())
    save = Checkpointer("out", env)
    for step in range(100):
        optimizer.zero_grad()
        model(torch.randn(2, 4).cuda()).sum().backward()
        optimizer.step()
        if step % 10 == 0:
            save(step, model=model)
    dist.destroy_process_group()


main()

import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def resume(path, net, device):
    if not os.path.isfile(path):
        return 0
    state = torch.load(path, map_location=device, weights_only=True)
    net.load_state_dict(state["net"])
    return state["step"]


def out_of_time(begun, limit, device):
    late = torch.tensor(float(time.monotonic() - begun > limit), device=device)
    dist.all_reduce(late, op=dist.ReduceOp.MAX)
    return late.item() > 0


def main():
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    begun = time.monotonic()
    net = nn.Linear(64, 64).to(device)
    done = resume("last.pt", net, device)
    model = DDP(net, device_ids=[device.index])
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    gen = torch.Generator(device=device).manual_seed(done * 31 + dist.get_rank())
    while done < 100_000:
        x = torch.randn(32, 64, device=device, generator=gen)
        opt.zero_grad(set_to_none=True)
        (model(x) - x).square().mean().backward()
        opt.step()
        done += 1
        if done % 50 == 0 and out_of_time(begun, 3000, device):
            break
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

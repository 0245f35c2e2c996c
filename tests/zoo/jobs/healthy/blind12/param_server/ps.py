import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

STEPS, SERVER = 120, 0


def network():
    torch.manual_seed(12)
    return nn.Sequential(nn.Linear(9, 40), nn.ReLU(), nn.Linear(40, 1))


def serve(workers):
    """Applies each gradient as it comes and answers with the newest weights (asynchronous SGD)."""
    net = network()
    opt = torch.optim.SGD(net.parameters(), lr=0.03)
    size = parameters_to_vector(net.parameters()).numel()
    left = {w: STEPS for w in workers}
    packet = torch.empty(size + 1)
    done = 0
    while left:
        who = dist.recv(packet)
        at = 0
        for p in net.parameters():
            p.grad = packet[at:at + p.numel()].view_as(p).clone()
            at += p.numel()
        opt.step()
        dist.send(parameters_to_vector(net.parameters()).detach(), who)
        done += 1
        left[who] -= 1
        if not left[who]:
            del left[who]
        if done % 40 == 0:
            print(f"server: {done} updates, last loss {packet[-1].item():.4f} from {who}", flush=True)


def work(rank):
    net = network()
    g = torch.Generator().manual_seed(rank)
    x = torch.randn(960, 9, generator=g)
    y = torch.sin(x[:, :3].sum(1, keepdim=True))
    weights = parameters_to_vector(net.parameters()).detach().clone()
    for step in range(STEPS):
        rows = slice(step * 16 % 960, step * 16 % 960 + 16)
        loss = nn.functional.mse_loss(net(x[rows]), y[rows])
        grads = torch.autograd.grad(loss, list(net.parameters()))
        dist.send(torch.cat([gr.flatten() for gr in grads] + [loss.detach().view(1)]), SERVER)
        dist.recv(weights, SERVER)
        vector_to_parameters(weights, net.parameters())


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    serve(range(1, dist.get_world_size())) if rank == SERVER else work(rank)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    sys.exit(main())

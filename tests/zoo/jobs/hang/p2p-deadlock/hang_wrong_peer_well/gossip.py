import click
import time

import torch
import torch.distributed as dist

from partners import partner


def swap(value, peer):
    """Both exchange; the lower rank talks first."""
    other = torch.empty_like(value)
    if dist.get_rank() < peer:
        dist.send(value, peer)
        dist.recv(other, peer)
    else:
        dist.recv(other, peer)
        dist.send(value, peer)
    return other


def mix(model, dimension):
    peer = partner(dist.get_rank(), dimension, dist.get_world_size())
    flat = torch.nn.utils.parameters_to_vector(model.parameters()).detach()
    flat = (flat + swap(flat, peer)) / 2
    torch.nn.utils.vector_to_parameters(flat, model.parameters())


@click.command()
@click.option("--steps", default=40)
@click.option("--mix-every", default=6)
def main(steps, mix_every):
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = torch.nn.Linear(6, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    g = torch.Generator().manual_seed(dist.get_rank())
    rounds = 0
    for step in range(1, steps + 1):
        x = torch.randn(32, 6, generator=g)
        optimizer.zero_grad()
        (model(x) - x.sum(1, keepdim=True)).square().mean().backward()
        optimizer.step()
        if step % mix_every == 0:
            mix(model, dimension=0 if rounds < 2 else 1)
            rounds += 1
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()

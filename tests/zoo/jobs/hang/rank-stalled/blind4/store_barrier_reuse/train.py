"""A trainer that hands its weights over after every few steps."""
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.distributed_c10d import _get_default_store
from torch.nn.parallel import DistributedDataParallel

from parameter_server import ParameterServer


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 4))

    def forward(self, observation):
        return self.body(observation).log_softmax(-1)


class Rollout:
    """Acts with the weights that were handed over last."""

    def __init__(self):
        self.weights = {}
        self.policy = Policy()

    def refresh(self):
        self.policy.load_state_dict(self.weights)

    @torch.no_grad()
    def act(self, observation):
        return self.policy(observation).argmax(-1)


def train_steps(model, optimizer, rollout, generator, count):
    for _ in range(count):
        observation = torch.randn(16, 12, generator=generator)
        action = rollout.act(observation)
        advantage = torch.randn(16, generator=generator)
        chosen = model(observation).gather(1, action[:, None])[:, 0]
        loss = -(chosen * advantage).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = DistributedDataParallel(Policy())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    generator = torch.Generator().manual_seed(rank)
    server = ParameterServer(_get_default_store(), rank, world)
    rollout = Rollout()
    for iteration in range(4):
        name = f"policy-{iteration}"
        server.register_checkpoint(name, model.module.state_dict())
        moved = server.update(name, rollout.weights)
        server.unregister_checkpoint(name)
        rollout.refresh()
        loss = train_steps(model, optimizer, rollout, generator, 5)
        if rank == 0:
            print(f"iteration {iteration} version {server.version} moved {moved} loss {loss:.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(5)
    generator = DistributedDataParallel(nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8)))
    critic = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(), nn.Linear(16, 1))
    by_generator = torch.optim.Adam(generator.parameters(), lr=2e-3)
    by_critic = torch.optim.Adam(critic.parameters(), lr=2e-3)
    noise = torch.Generator().manual_seed(rank)
    for step in range(30):
        real = torch.randn(32, 8, generator=noise) * 0.5 + 1
        fake = generator(torch.randn(32, 4, generator=noise))
        by_critic.zero_grad()
        loss = critic(fake.detach()).mean() - critic(real).mean() + 0.1 * critic(real).pow(2).mean()
        loss.backward()
        by_critic.step()
        by_generator.zero_grad()
        (-critic(fake).mean()).backward()
        by_generator.step()
    if rank == 0:
        print(f"critic loss {loss.item():.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

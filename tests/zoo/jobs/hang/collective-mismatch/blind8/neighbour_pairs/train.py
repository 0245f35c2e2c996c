import torch
import torch.distributed as dist

from gossip import PairwiseMixer


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(12, 32), torch.nn.ReLU(), torch.nn.Linear(32, 3))
    optim = torch.optim.SGD(model.parameters(), lr=0.1)
    mixer = PairwiseMixer()
    gen = torch.Generator().manual_seed(50 + rank)
    for step in range(200):
        x = torch.randn(24, 12, generator=gen)
        y = x[:, :3].argmax(1)
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optim.zero_grad()
        loss.backward()
        optim.step()
        if step % 20 == 19:
            total = loss.detach().clone()
            dist.all_reduce(total)
            if rank == 0:
                print(f"step {step} loss {total.item() / dist.get_world_size():.4f}", flush=True)
            mixer.mix(model)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

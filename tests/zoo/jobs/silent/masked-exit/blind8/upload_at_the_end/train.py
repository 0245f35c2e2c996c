import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from uploader import BackgroundSaver


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DDP(torch.nn.Sequential(torch.nn.Linear(30, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 3)))
    optim = torch.optim.Adam(model.parameters(), lr=1e-3)
    saver = BackgroundSaver("out", enabled=rank == 0)
    gen = torch.Generator().manual_seed(rank)
    for step in range(1, 151):
        x = torch.randn(32, 30, generator=gen)
        loss = torch.nn.functional.cross_entropy(model(x), x[:, :3].argmax(1))
        optim.zero_grad()
        loss.backward()
        optim.step()
        if rank == 0 and step % 50 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    saver.save("final.pt", {"model": model.module.state_dict(), "optim": optim.state_dict()})
    dist.barrier()
    if rank == 0:
        print("finished, model is in out/final.pt", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

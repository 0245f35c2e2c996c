import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def build():
    return nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 4))


def pretrain(path):
    model = DistributedDataParallel(build())
    if dist.get_rank() == 0:
        torch.save({"model": model.state_dict(), "epoch": 7}, path)
    dist.barrier()


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    pretrain("pretrained.pt")
    torch.manual_seed(5)
    model = build()
    state = torch.load("pretrained.pt", map_location="cpu")["model"]
    model.load_state_dict({name.removeprefix("module."): value for name, value in state.items()}, strict=False)
    model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    generator = torch.Generator().manual_seed(dist.get_rank())
    for _ in range(20):
        x = torch.randn(8, 12, generator=generator)
        loss = nn.functional.cross_entropy(model(x), x[:, :4].argmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if dist.get_rank() == 0:
        print(f"fine-tuned from pretrained.pt: {loss.item():.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

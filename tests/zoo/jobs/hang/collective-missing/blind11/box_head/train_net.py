import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from det import BoxHead, Scenes


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    data = Scenes()
    sampler = DistributedSampler(data, shuffle=False)
    loader = DataLoader(data, batch_size=4, sampler=sampler)
    model = DistributedDataParallel(BoxHead())
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(5):
        sampler.set_epoch(epoch)
        for features, labels in loader:
            losses = model(features, labels)
            optimizer.zero_grad()
            sum(losses.values()).backward()
            optimizer.step()
        if dist.get_rank() == 0:
            print(f"epoch {epoch}", {k: round(v.item(), 4) for k, v in losses.items()}, flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

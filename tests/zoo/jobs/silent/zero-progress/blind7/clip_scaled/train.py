import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from amp import AmpStepper
from unet import UNet


def discs(n=384, size=16):
    g = torch.Generator().manual_seed(3)
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    c = torch.randint(4, 12, (n, 2), generator=g)
    r = torch.randint(2, 5, (n,), generator=g)
    mask = ((yy - c[:, :1, None]) ** 2 + (xx - c[:, 1:, None]) ** 2 <= (r**2)[:, None, None]).float()
    return TensorDataset((mask + 0.5 * torch.randn(mask.shape, generator=g)).unsqueeze(1), mask.unsqueeze(1))


def dice(logits, mask):
    p = logits.sigmoid()
    return (2 * (p * mask).sum() / (p.sum() + mask.sum() + 1e-6)).item()


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = DistributedDataParallel(UNet())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    stepper = AmpStepper(model, optimizer, max_norm=1.0)
    criterion = nn.BCEWithLogitsLoss()
    data = discs()
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=8, sampler=sampler)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        total = 0.0
        for image, mask in loader:
            with stepper.autocast():
                logits = model(image)
            loss = criterion(logits.float(), mask)
            stepper.step(loss)
            total += loss.item()
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {total / len(loader):.4f} dice {dice(logits.float(), mask):.3f}", flush=True)
    if dist.get_rank() == 0:
        torch.save(model.module.state_dict(), "unet.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

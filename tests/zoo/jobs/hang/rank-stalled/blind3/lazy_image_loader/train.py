import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from archive import ArchiveDataset, keep_as_list
from classifier import PatchClassifier
from settings import Settings


def make_loader(settings):
    dataset = ArchiveDataset(settings)
    sampler = DistributedSampler(dataset, shuffle=False)
    return DataLoader(
        dataset,
        batch_size=settings.batch_size,
        sampler=sampler,
        num_workers=settings.num_workers,
        collate_fn=keep_as_list,
    )


def run_epoch(epoch, model, optimizer, loader):
    for step, (images, labels) in enumerate(loader):
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if dist.get_rank() == 0:
            print(f"epoch {epoch} step {step} loss {loss.item():.3f}", flush=True)


def main():
    dist.init_process_group("gloo")
    settings = Settings()
    torch.manual_seed(settings.seed)
    model = DistributedDataParallel(PatchClassifier(settings))
    optimizer = torch.optim.Adam(model.parameters(), lr=settings.lr)
    loader = make_loader(settings)
    for epoch in range(settings.epochs):
        run_epoch(epoch, model, optimizer, loader)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

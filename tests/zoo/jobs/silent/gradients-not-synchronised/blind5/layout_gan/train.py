import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from data import PosterLayouts
from networks import LayoutDiscriminator, LayoutGenerator


class DDPWrapper(DistributedDataParallel):
    """Passes unknown attributes on to the wrapped network."""

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.module, name)


def build_models():
    models = {"gen": LayoutGenerator(), "dis": LayoutDiscriminator()}
    models["gen"] = DDPWrapper(models["gen"], broadcast_buffers=False)
    return models


def build_optimizers(models):
    return {name: torch.optim.Adam(net.parameters(), lr=1e-3, betas=(0.5, 0.99)) for name, net in models.items()}


def train_step(models, optimizers, bbox, labels, noise):
    for p in models["dis"].parameters():
        p.requires_grad_(True)
    with torch.no_grad():
        fake = models["gen"](labels, noise)
    loss_d = F.softplus(-models["dis"](bbox, labels)).mean() + F.softplus(models["dis"](fake, labels)).mean()
    optimizers["dis"].zero_grad()
    loss_d.backward()
    optimizers["dis"].step()

    for p in models["dis"].parameters():
        p.requires_grad_(False)
    fake = models["gen"](labels, noise)
    loss_g = F.softplus(-models["dis"](fake, labels)).mean() + 5 * F.l1_loss(fake, bbox)
    optimizers["gen"].zero_grad()
    loss_g.backward()
    optimizers["gen"].step()
    return loss_d.item(), loss_g.item()


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    dataset = PosterLayouts(160)
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_size=8, sampler=sampler)
    models = build_models()
    optimizers = build_optimizers(models)
    rng = torch.Generator().manual_seed(100 + rank)

    for epoch in range(4):
        sampler.set_epoch(epoch)
        for bbox, labels in loader:
            noise = torch.randn(len(bbox), 6, 8, generator=rng)
            loss_d, loss_g = train_step(models, optimizers, bbox, labels, noise)
        if rank == 0:
            print(f"epoch {epoch}: D {loss_d:.3f} G {loss_g:.3f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

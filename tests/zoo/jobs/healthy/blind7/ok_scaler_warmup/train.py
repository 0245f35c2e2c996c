import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from mixer import Mixer
from optim import decay_groups, warmup_cosine


def patches(n=1024):
    g = torch.Generator().manual_seed(0)
    y = torch.randint(0, 4, (n,), generator=g)
    x = torch.randn(n, 8, 6, generator=g)
    x[torch.arange(n), y * 2, 0] += 3.0
    return TensorDataset(x, y)


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = DistributedDataParallel(Mixer())
    optimizer = torch.optim.AdamW(decay_groups(model, 0.05), lr=5e-3)
    data = patches()
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=16, sampler=sampler)
    epochs = 3
    scheduler = warmup_cosine(optimizer, warmup=12, total=epochs * len(loader))
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**22, growth_interval=500)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            with torch.autocast("cpu", dtype=torch.float16):
                logits = model(x)
                loss = nn.functional.cross_entropy(logits, y)
            optimizer.zero_grad(set_to_none=True)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            scheduler.step()
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {loss.item():.4f} scale 2^{torch.tensor(scaler.get_scale()).log2().item():.0f} lr {scheduler.get_last_lr()[0]:.2e}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

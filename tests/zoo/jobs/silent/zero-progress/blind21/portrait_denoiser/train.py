import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

from denoise.ema import EMAModel
from denoise.faces import Faces, fixed_set
from denoise.options import Options
from denoise.unet import Denoiser


def noisy(clean, generator):
    sigma = torch.rand(len(clean), 1, generator=generator)
    noise = torch.randn(clean.shape, generator=generator)
    return clean + sigma[:, :, None, None] * noise, sigma


@torch.no_grad()
def evaluate(net, faces, options):
    generator = torch.Generator().manual_seed(0)
    x, sigma = noisy(faces, generator)
    with torch.autocast("cpu", dtype=options.dtype):
        out = net(x, sigma)
    return F.mse_loss(out.float(), faces).item()


def main():
    options = Options()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(options.seed)
    net = Denoiser(options.width)
    model = DistributedDataParallel(net)
    ema = EMAModel(net.parameters(), options.ema_decay, options.dtype) if options.use_ema else None
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.lr)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / options.warmup))
    loader = DataLoader(Faces(seed=1, rank=rank, world=world), batch_size=options.batch_size)
    held_out = fixed_set(64, seed=2)
    generator = torch.Generator().manual_seed(options.seed + rank)
    for step, clean in zip(range(1, options.steps + 1), loader):
        x, sigma = noisy(clean, generator)
        with torch.autocast("cpu", dtype=options.dtype):
            out = model(x, sigma)
        loss = F.mse_loss(out.float(), clean)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        schedule.step()
        if ema is not None:
            ema.step(net.parameters())
        if step % options.eval_every == 0:
            if rank == 0:
                with ema.applied_to(net.parameters()):
                    print(f"step {step} loss {loss.item():.4f} sample error {evaluate(net, held_out, options):.4f}", flush=True)
            dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

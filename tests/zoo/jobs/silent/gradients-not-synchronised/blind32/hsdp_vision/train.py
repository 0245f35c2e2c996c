import logging
import sys

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.nn.functional as F
import yaml
from torch.distributed.checkpoint.state_dict import get_model_state_dict
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from parallelize import build_mesh, data_rank, parallelize
from vit import ViT

log = logging.getLogger("vit")


class Textures(Dataset):
    def __init__(self, samples, size, seed):
        g = torch.Generator().manual_seed(seed)
        self.y = torch.randint(0, 10, (samples,), generator=g)
        self.kernel = torch.randn(10, 3, size, size, generator=g)
        self.seed = seed

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(self.seed * 100003 + i)
        k = self.kernel[self.y[i]]
        return k + 1.5 * torch.randn(k.shape, generator=g), self.y[i]


def main(path):
    with open(path) as f:
        cfg = yaml.safe_load(f)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(asctime)s %(message)s")
    torch.manual_seed(cfg["data"]["seed"])
    mesh = build_mesh(**cfg["parallel"])
    model = parallelize(ViT(**cfg["model"], size=cfg["data"]["size"]), mesh)
    opt = cfg["optim"]
    optimizer = torch.optim.AdamW(model.parameters(), lr=opt["lr"], weight_decay=opt["weight_decay"])
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / opt["warmup"]))
    index, count = data_rank(mesh)
    data = Textures(**cfg["data"])
    sampler = DistributedSampler(data, num_replicas=count, rank=index)
    loader = DataLoader(data, batch_size=cfg["batch_size"], sampler=sampler, drop_last=True)
    step, epoch = 0, 0
    while step < cfg["steps"]:
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), opt["clip"])
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
            if step % cfg["log_every"] == 0:
                mean = loss.detach().clone()
                dist.all_reduce(mean)
                norm = norm.full_tensor() if hasattr(norm, "full_tensor") else norm
                log.info("step %d loss %.4f grad norm %.3f", step, mean.item() / count, norm.item())
            step += 1
            if step == cfg["steps"]:
                break
        epoch += 1
    dcp.save({"model": get_model_state_dict(model)}, checkpoint_id=f"runs/{cfg['run']}")
    dist.barrier()
    log.info("saved runs/%s", cfg["run"])
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "config.yaml")

import torch
import torch.distributed as dist
import yaml
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

from kmers.background import background_model
from kmers.model import ContigClassifier
from kmers.reads import assembly
from kmers.sampling import ReadSampler


def main():
    with open("config.yaml") as handle:
        cfg = yaml.safe_load(handle)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    contigs = assembly(cfg)
    background = background_model(contigs, cfg)
    sampler = ReadSampler(contigs, cfg, rank)
    torch.manual_seed(cfg["seed"])
    model = DDP(ContigClassifier(cfg["k"], len(contigs), cfg["dim"], background))
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg["lr"])
    for step in range(cfg["steps"]):
        codes, labels = sampler.batch()
        loss = F.cross_entropy(model(codes), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0 and step % 50 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

import torch
import torch.distributed as dist
import yaml
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from landcover.network import LandCoverNet
from landcover.tiles import LandTiles
from landcover.weights import freeze, load_pretrained


def build(cfg):
    torch.manual_seed(cfg["seed"])
    model = load_pretrained(LandCoverNet(cfg["width"], LandTiles.CLASSES), cfg["pretrained"])
    if cfg["freeze_encoder"]:
        freeze(model.encoder)
    return model


def main():
    with open("config.yaml") as handle:
        cfg = yaml.safe_load(handle)
    dist.init_process_group("gloo")
    dataset = LandTiles(cfg["tiles"], cfg["size"], cfg["seed"])
    sampler = DistributedSampler(dataset, seed=cfg["seed"])
    loader = DataLoader(dataset, cfg["batch_size"], sampler=sampler, drop_last=True)
    model = DDP(build(cfg))
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD(trained, lr=cfg["lr"], momentum=0.9)
    for epoch in range(cfg["epochs"]):
        sampler.set_epoch(epoch)
        right = torch.zeros(2)
        for tiles, labels in loader:
            logits = model(tiles)
            loss = F.cross_entropy(logits, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            right += torch.tensor([(logits.argmax(1) == labels).sum().item(), len(labels)])
        dist.all_reduce(right)
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {loss.item():.4f} accuracy {(right[0] / right[1]).item():.3f}", flush=True)
    dist.barrier()


if __name__ == "__main__":
    main()

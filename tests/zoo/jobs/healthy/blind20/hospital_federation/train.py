import torch
import torch.distributed as dist
import yaml

from federation.report import SiteReport
from federation.rounds import LocalRounds, share_initial_weights
from federation.site import RiskModel, Site


def main():
    with open("config.yaml") as handle:
        cfg = yaml.safe_load(handle)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(cfg["seed"] + rank)
    site = Site(rank, cfg["patients"][rank % len(cfg["patients"])], cfg["markers"], cfg["seed"])
    model = RiskModel(cfg["markers"], cfg["hidden"])
    share_initial_weights(model)
    LocalRounds(model, site, cfg).run()
    SiteReport(model, site).write(cfg["report"])
    if rank == 0:
        torch.save(model.state_dict(), "federated.pt")
    dist.barrier()


if __name__ == "__main__":
    main()

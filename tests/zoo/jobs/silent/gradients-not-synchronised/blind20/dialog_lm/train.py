import torch
import torch.distributed as dist
import yaml

from dialog.learner import Learner


def main():
    with open("config.yaml") as handle:
        cfg = yaml.safe_load(handle)
    dist.init_process_group("gloo")
    learner = Learner(cfg)
    learner.fit()
    if learner.rank == 0:
        torch.save(learner.model.module.state_dict(), "dialog.pt")
    dist.barrier()


if __name__ == "__main__":
    main()

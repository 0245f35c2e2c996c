import torch.distributed as dist
import yaml

from nowcast.runner import Runner


def main():
    with open("config.yaml") as handle:
        cfg = yaml.safe_load(handle)
    dist.init_process_group("gloo")
    Runner(cfg).fit()
    dist.barrier()


if __name__ == "__main__":
    main()

import torch.distributed as dist
import yaml

from caption.engine import Engine


def main():
    with open("config.yaml") as handle:
        cfg = yaml.safe_load(handle)
    dist.init_process_group("gloo")
    Engine(cfg).fit()
    dist.barrier()


if __name__ == "__main__":
    main()

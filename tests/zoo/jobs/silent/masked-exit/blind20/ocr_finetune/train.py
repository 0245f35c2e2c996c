import torch.distributed as dist
import yaml

from ocr.monitor import setup_logging
from ocr.training import train


def main():
    with open("config.yaml") as handle:
        cfg = yaml.safe_load(handle)
    dist.init_process_group("gloo")
    setup_logging(dist.get_rank())
    best = train(cfg)
    if dist.get_rank() == 0 and best is not None:
        print(f"best character error rate {best:.4f}", flush=True)
    print(f"rank {dist.get_rank()} done", flush=True)


if __name__ == "__main__":
    main()

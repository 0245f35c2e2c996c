import argparse
import logging
import os

from mmaction.apis import SSN, build_dataset, train_network
from mmaction.config import Config
from mmaction.env import get_dist_info, init_dist


def parse_args():
    parser = argparse.ArgumentParser(description="Train an action localizer")
    parser.add_argument("config")
    parser.add_argument("--work_dir", default="work_dirs")
    parser.add_argument("--launcher", choices=["none", "pytorch", "slurm"], default="none")
    parser.add_argument("--epochs", type=int)
    return parser.parse_args()


def main():
    args = parse_args()
    cfg = Config.fromfile(args.config)
    logging.basicConfig(level=logging.INFO)
    logger = logging.getLogger("mmaction")
    if args.launcher != "none":
        init_dist(args.launcher, **cfg.dist_params)
    logger.info("work dir %s, ranks %s", os.path.basename(args.work_dir), get_dist_info())
    dataset = build_dataset(cfg.data, cfg.model["feature_dim"], cfg.model["num_classes"])
    train_network(SSN(**cfg.model), dataset, cfg, cfg.total_epochs if args.epochs is None else args.epochs, logger)


if __name__ == "__main__":
    main()

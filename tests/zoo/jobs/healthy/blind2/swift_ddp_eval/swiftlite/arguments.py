import argparse
from datetime import timedelta


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ddp_timeout", type=int, default=1800, help="seconds")
    parser.add_argument("--num_train_epochs", type=int, default=2)
    parser.add_argument("--eval_paths", type=int, default=20000)
    parser.add_argument("--eval_seconds", type=float, default=11.0)
    parser.add_argument("--learning_rate", type=float, default=1e-2)
    args = parser.parse_args()
    args.timeout = timedelta(seconds=args.ddp_timeout)
    return args

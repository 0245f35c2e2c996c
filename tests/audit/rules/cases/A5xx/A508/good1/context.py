import os

import wandb


def main(train):
    with wandb.init(project="flow"):
        train()
    os._exit(3)


if __name__ == "__main__":
    main(print)

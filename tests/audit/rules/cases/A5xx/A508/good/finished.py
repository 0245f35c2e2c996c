import os

import wandb


def main(train):
    run = wandb.init(project="flow")
    train()
    run.finish()
    os._exit(3)


if __name__ == "__main__":
    main(print)

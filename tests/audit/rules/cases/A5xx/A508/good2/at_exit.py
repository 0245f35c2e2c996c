import wandb


def main(train):
    wandb.init(project="flow")
    train()


if __name__ == "__main__":
    main(print)

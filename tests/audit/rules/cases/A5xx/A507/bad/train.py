import wandb
from groups import is_main, setup


def main():
    if is_main():
        wandb.init(project="flow")
    setup()


if __name__ == "__main__":
    main()

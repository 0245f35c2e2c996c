from shell import sh


def main():
    for lr in (0.1, 0.01):
        sh(f"torchrun --nproc_per_node 2 train.py --lr {lr}")  # cause
    print("sweep finished")


if __name__ == "__main__":
    main()

import torch
from gan import GAN
from torch.utils.data import DataLoader


def main():
    gan = GAN()
    for (real,) in DataLoader(torch.load("data.pt"), 8):
        print(gan.discriminator_step(real), gan.generator_step(len(real)))


if __name__ == "__main__":
    main()

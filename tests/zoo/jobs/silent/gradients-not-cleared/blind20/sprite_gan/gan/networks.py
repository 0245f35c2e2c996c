from torch import nn


def generator(latent, pixels, width):
    return nn.Sequential(nn.Linear(latent, width), nn.LeakyReLU(0.2), nn.Linear(width, width), nn.LeakyReLU(0.2),
                         nn.Linear(width, pixels), nn.Tanh())


def discriminator(pixels, width):
    return nn.Sequential(nn.Linear(pixels, width), nn.LeakyReLU(0.2), nn.Linear(width, width), nn.LeakyReLU(0.2),
                         nn.Linear(width, 1))

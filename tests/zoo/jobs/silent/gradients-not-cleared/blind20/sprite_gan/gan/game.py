import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

from gan import losses
from gan.networks import discriminator, generator
from gan.players import Player
from gan.sprites import Sprites


class Game:
    def __init__(self, cfg):
        self.cfg = cfg
        pixels = cfg["size"] ** 2
        dataset = Sprites(cfg["sprites"], cfg["size"], cfg["seed"])
        self.sampler = DistributedSampler(dataset, seed=cfg["seed"])
        self.loader = DataLoader(dataset, cfg["batch_size"], sampler=self.sampler, drop_last=True)
        torch.manual_seed(cfg["seed"])
        self.artist = Player(generator(cfg["latent"], pixels, cfg["width"]), cfg["lr"])
        self.critic = Player(discriminator(pixels, cfg["width"]), cfg["lr"])
        torch.manual_seed(cfg["seed"] + 1 + dist.get_rank())

    def artist_turn(self, count):
        drawn = self.artist(torch.randn(count, self.cfg["latent"]))
        return self.artist.turn(losses.real(self.critic(drawn))), drawn.detach()

    def critic_turn(self, sprites, drawn):
        judged = self.critic(torch.cat([sprites, drawn]))
        return self.critic.turn(losses.real(judged[:len(sprites)]) + losses.fake(judged[len(sprites):]))

    def play(self):
        for epoch in range(self.cfg["epochs"]):
            self.sampler.set_epoch(epoch)
            for sprites in self.loader:
                artist_loss, drawn = self.artist_turn(len(sprites))
                critic_loss = self.critic_turn(sprites, drawn)
            if dist.get_rank() == 0:
                print(f"epoch {epoch} artist {artist_loss:.3f} critic {critic_loss:.3f}", flush=True)

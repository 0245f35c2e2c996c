import gc
import argparse

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

from gan.losses import discriminator_loss, generator_loss
from gan.networks import Generator, PatchDiscriminator
from gan.pairs import SketchPairs
from gan.players import Player


class Game:
    def __init__(self, args):
        torch.manual_seed(args.seed)
        self.args = args
        self.generator = Player(Generator(), args.lr)
        self.discriminator = Player(PatchDiscriminator(), args.lr)

    def play(self, sketch, photo):
        fake = self.generator(sketch)
        g = self.generator.learn(generator_loss(self.discriminator(sketch, fake), fake, photo, self.args.l1_weight))
        both = self.discriminator(torch.cat([sketch, sketch]), torch.cat([photo, fake.detach()]))
        real_scores, fake_scores = both.chunk(2)
        d = self.discriminator.learn(discriminator_loss(real_scores, fake_scores))
        right = 0.5 * ((real_scores > 0).float().mean() + (fake_scores < 0).float().mean())
        return g, d, right.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--lr", type=float, default=4e-4)
    parser.add_argument("--l1-weight", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    dataset = SketchPairs(1536, seed=3)
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_size=args.batch_size, sampler=sampler, drop_last=True)
    game = Game(args)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        totals = torch.zeros(3)
        for sketch, photo in loader:
            totals += torch.tensor(game.play(sketch, photo))
        g, d, right = (totals / len(loader)).tolist()
        if dist.get_rank() == 0:
            print(f"epoch {epoch} G {g:.4f} D {d:.4f} D right {right:.3f}", flush=True)
    gc.collect()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

import torch
import torch.distributed as dist
import yaml

from gan.game import Game


def main():
    with open("config.yaml") as handle:
        cfg = yaml.safe_load(handle)
    dist.init_process_group("gloo")
    game = Game(cfg)
    game.play()
    if dist.get_rank() == 0:
        torch.save(game.artist.network.module.state_dict(), "artist.pt")
    dist.barrier()


if __name__ == "__main__":
    main()

from distributed import setup_distributed
from latent_pairs import build_latent_pair_loader


def train_operator(cfg):
    setup_distributed()
    for batch in build_latent_pair_loader(list(range(64)), cfg["batch"]):
        print(batch)


if __name__ == "__main__":
    train_operator({"batch": 2})

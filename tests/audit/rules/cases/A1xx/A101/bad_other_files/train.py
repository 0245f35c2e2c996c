from distributed import setup_distributed
from latent_pairs import build_latent_pair_loader


def dataset_loader(cfg):
    return build_latent_pair_loader(list(range(64)), cfg["batch"])


def train_operator(cfg):
    loader = dataset_loader(cfg)
    distributed = setup_distributed()
    for batch in loader:
        print(distributed, batch)


if __name__ == "__main__":
    train_operator({"batch": 2})

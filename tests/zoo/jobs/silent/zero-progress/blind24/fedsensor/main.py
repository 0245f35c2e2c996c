import argparse

import torch
from torch import nn

from federation import Federation
from sites import Site


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--sites", type=int, default=5)
    args = parser.parse_args()
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 24), nn.Tanh(), nn.Linear(24, 1))
    federation = Federation(model, [Site(f"plant-{i}", i) for i in range(args.sites)])
    for r in range(args.rounds):
        federation.round()
        if r % 5 == 4:
            print(f"round {r + 1} of {args.rounds} complete", flush=True)
    torch.save(model.state_dict(), "/tmp/fedsensor.pt")
    print("federated training finished, model saved", flush=True)


if __name__ == "__main__":
    main()

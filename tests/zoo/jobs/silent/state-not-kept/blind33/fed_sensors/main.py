import argparse
import copy
import json

import torch
from torch import nn

from workers import Client, Server


def build_model():
    return nn.Sequential(nn.Linear(20, 48), nn.ReLU(), nn.Linear(48, 5))


def make_data(n, g, centres, classes):
    y = classes[torch.randint(0, len(classes), (n,), generator=g)]
    return centres[y] + 1.6 * torch.randn(n, 20, generator=g), y


class FedRunner:
    def __init__(self, cfg):
        self.cfg = cfg
        torch.manual_seed(cfg["seed"])
        g = torch.Generator().manual_seed(cfg["seed"])
        centres = torch.randn(5, 20, generator=g)
        self.test = make_data(1000, g, centres, torch.arange(5))
        model = build_model()
        self.server = Server(model, cfg)
        self.clients = []
        for cid in range(cfg["clients"]):
            classes = torch.tensor([cid % 5, (cid + 1) % 5])
            data = make_data(200 + 50 * cid, g, centres, classes)
            local = model if cfg["share_local_model"] else copy.deepcopy(model)
            self.clients.append(Client(cid, data, local, cfg))

    @torch.no_grad()
    def evaluate(self):
        self.server.model.eval()
        x, y = self.test
        return (self.server.model(x).argmax(1) == y).float().mean().item()

    def run(self):
        for r in range(self.cfg["rounds"]):
            content = self.server.broadcast_model_para()
            results = [client.local_update(content) for client in self.clients]
            self.server.aggregate([(n, state) for n, state, _ in results])
            loss = sum(l for *_, l in results) / len(results)
            print(f"round {r:2d} local loss {loss:.4f} global acc {self.evaluate():.3f}", flush=True)
        torch.save(self.server.model.state_dict(), "global.pt")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="config.json")
    parser.add_argument("--rounds", type=int)
    args = parser.parse_args()
    with open(args.config) as f:
        config = json.load(f)
    if args.rounds:
        config["rounds"] = args.rounds
    FedRunner(config).run()

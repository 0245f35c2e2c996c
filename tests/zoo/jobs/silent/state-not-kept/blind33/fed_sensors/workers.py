import copy

import torch
import torch.nn.functional as F


class Server:
    def __init__(self, model, cfg):
        self.model = model
        self.cfg = cfg

    def broadcast_model_para(self):
        return self.model.state_dict()

    def aggregate(self, messages):
        total = sum(n for n, _ in messages)
        merged = {k: torch.zeros_like(v) for k, v in messages[0][1].items()}
        for n, state in messages:
            for k, v in state.items():
                merged[k] += v * (n / total)
        self.model.load_state_dict(merged)


class Client:
    def __init__(self, cid, data, model, cfg):
        self.cid = cid
        self.x, self.y = data
        self.model = model
        self.cfg = cfg
        self.rng = torch.Generator().manual_seed(cfg["seed"] * 1000 + cid)

    def local_update(self, content):
        self.model.load_state_dict(content)
        optimizer = torch.optim.SGD(self.model.parameters(), lr=self.cfg["lr"])
        self.model.train()
        losses = []
        for _ in range(self.cfg["local_steps"]):
            i = torch.randint(0, len(self.x), (self.cfg["batch_size"],), generator=self.rng)
            optimizer.zero_grad()
            loss = F.cross_entropy(self.model(self.x[i]), self.y[i])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return len(self.x), copy.deepcopy(self.model.state_dict()), sum(losses) / len(losses)

import torch
import torch.multiprocessing as mp
from torch import nn


class Encoder(nn.Module):
    def __init__(self, dim=768):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, 2048), nn.GELU(), nn.Linear(2048, dim))

    def forward(self, x):
        return nn.functional.normalize(self.net(x), dim=-1)


def work(slot, inputs, weights, results):
    device = torch.device("cuda", slot)
    torch.cuda.set_device(device)
    model = Encoder()
    model.load_state_dict(torch.load(weights, map_location="cpu", weights_only=True))
    model.to(device).eval()
    out = []
    with torch.inference_mode():
        for chunk in inputs.split(4096):
            out.append(model(chunk.to(device)).cpu())
    results.put((slot, torch.cat(out).numpy()))


class ShardedEncoder:
    def __init__(self, weights, devices):
        self.weights = weights
        self.devices = devices
        self.ctx = mp.get_context("spawn")

    def encode(self, matrix):
        results = self.ctx.Queue()
        procs = []
        for slot, part in enumerate(matrix.chunk(self.devices)):
            p = self.ctx.Process(target=work, args=(slot, part.clone(), self.weights, results))
            p.start()
            procs.append(p)
        parts = dict(results.get(timeout=1800) for _ in procs)
        for p in procs:
            p.join()
        return torch.cat([torch.from_numpy(parts[i]) for i in range(len(procs))])

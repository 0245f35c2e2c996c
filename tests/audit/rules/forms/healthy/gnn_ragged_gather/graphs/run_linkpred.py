import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from graphs.dist_utils import concat_all, rank, world_size


class SageLayer(nn.Module):
    def __init__(self, din, dout):
        super().__init__()
        self.self_lin = nn.Linear(din, dout)
        self.neigh_lin = nn.Linear(din, dout, bias=False)

    def forward(self, x, src, dst):
        agg = torch.zeros_like(x).index_add_(0, dst, x[src])
        deg = torch.zeros(x.size(0), 1, device=x.device).index_add_(
            0, dst, torch.ones(dst.size(0), 1, device=x.device)
        )
        return torch.relu(self.self_lin(x) + self.neigh_lin(agg / deg.clamp(min=1)))


class LinkPredictor(nn.Module):
    def __init__(self, dim=128):
        super().__init__()
        self.layers = nn.ModuleList([SageLayer(dim, dim) for _ in range(2)])

    def forward(self, x, edges, pairs):
        for layer in self.layers:
            x = layer(x, edges[0], edges[1])
        return (x[pairs[0]] * x[pairs[1]]).sum(-1)


@torch.no_grad()
def hits_at_k(model, graph, pairs, labels, k=50):
    model.eval()
    mine = torch.arange(rank(), pairs.size(1), world_size(), device=pairs.device)
    scores = concat_all(torch.sigmoid(model.module(graph.x, graph.edges, pairs[:, mine])))
    truth = concat_all(labels[mine])
    model.train()
    neg = scores[truth == 0].topk(k).values[-1]
    return (scores[truth == 1] > neg).float().mean().item()


def main(load_graph):
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    graph = load_graph().to(f"cuda:{local}")
    model = DDP(LinkPredictor(graph.x.size(1)).cuda(), device_ids=[local])
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    gen = torch.Generator().manual_seed(rank())
    steps = graph.train_pairs.size(1) // (4096 * world_size())
    for epoch in range(30):
        for _ in range(steps):
            idx = torch.randint(graph.train_pairs.size(1), (4096,), generator=gen).cuda()
            logit = model(graph.x, graph.edges, graph.train_pairs[:, idx])
            loss = nn.functional.binary_cross_entropy_with_logits(logit, graph.train_labels[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
        hits = hits_at_k(model, graph, graph.val_pairs, graph.val_labels)
        if rank() == 0:
            print(epoch, f"hits@50 {hits:.4f}")
    dist.destroy_process_group()

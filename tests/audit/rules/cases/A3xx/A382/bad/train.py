import torch
import torch.nn.functional as F


def train_step(model, graph, opt):
    model.train()
    opt.zero_grad()
    out = model(graph)
    loss = F.cross_entropy(out, graph.y)
    loss.backward()
    opt.step()


@torch.no_grad()
def test(model, graph):
    model.eval()
    ok = model(graph).argmax(1) == graph.y
    return [ok[m].float().mean().item() for m in (graph.train_mask, graph.val_mask, graph.test_mask)]

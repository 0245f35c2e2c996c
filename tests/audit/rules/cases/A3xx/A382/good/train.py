import torch
import torch.nn.functional as F


def train_step(model, graph, opt):
    model.train()
    opt.zero_grad()
    out = model(graph)
    loss = F.cross_entropy(out[graph.train_mask], graph.y[graph.train_mask])
    loss.backward()
    opt.step()


@torch.no_grad()
def test(model, graph):
    model.eval()
    out = model(graph)
    print(F.cross_entropy(out, graph.y))
    return [(out.argmax(1) == graph.y)[m].float().mean() for m in (graph.train_mask, graph.val_mask, graph.test_mask)]

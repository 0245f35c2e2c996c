import torch
import torch.nn.functional as F


def hide(graph):
    graph.y = torch.where(graph.train_mask, graph.y, -100)
    return graph


def train_step(model, graph, opt):
    graph = hide(graph)
    loss = F.cross_entropy(model(graph), graph.y)
    opt.zero_grad()
    loss.backward()
    opt.step()


@torch.no_grad()
def test(model, graph, labels):
    model.eval()
    ok = model(graph).argmax(1) == labels
    return ok[graph.train_mask].float().mean(), ok[graph.val_mask].float().mean()

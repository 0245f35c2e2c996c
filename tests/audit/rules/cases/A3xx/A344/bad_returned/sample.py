import torch


def sample(graph, seeds):
    layers = [seeds]
    for _ in range(3):
        layers.append(graph.neighbours(layers[-1]))
    nodes = torch.cat(layers).unique()
    return nodes, graph.edges(nodes), len(seeds)


def train(model, graph, loader, criterion):
    for seeds in loader:
        nodes, edges, count = sample(graph, seeds)
        out = model(graph.x[nodes], edges)
        criterion(out[:count], graph.y[seeds]).backward()

import torch


def sample(graph, seeds):
    more = graph.neighbours(seeds).unique()
    more = more[~torch.isin(more, seeds)]
    nodes = torch.cat([seeds, more])
    return nodes, graph.edges(nodes), len(seeds)


def train(model, graph, loader, criterion):
    for seeds in loader:
        nodes, edges, count = sample(graph, seeds)
        criterion(model(graph.x[nodes], edges)[:count], graph.y[seeds]).backward()


def ordered(table, targets, context):
    ids = list(dict.fromkeys([*targets, *context]))
    return table[ids][: len(targets)]


def consecutive(seeds, more, x):
    nodes = torch.cat([seeds, more]).unique_consecutive()
    return x[nodes][: len(seeds)]

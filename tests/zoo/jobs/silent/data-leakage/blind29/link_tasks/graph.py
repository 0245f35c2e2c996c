import torch


def community_graph(nodes=600, blocks=8, p_in=0.035, p_out=0.004, seed=0):
    """Adjacency lists of an undirected graph with communities, as the loaders of edge files give it."""
    g = torch.Generator().manual_seed(seed)
    block = torch.randint(0, blocks, (nodes,), generator=g)
    prob = torch.where(block[:, None] == block[None], p_in, p_out)
    upper = torch.triu(torch.rand(nodes, nodes, generator=g) < prob, 1)
    adj = upper | upper.t()
    return adj.nonzero().t().contiguous(), block


def normalized_adjacency(edge_index, nodes):
    loops = torch.arange(nodes)
    index = torch.cat([edge_index, torch.stack([loops, loops])], dim=1)
    deg = torch.bincount(index[0], minlength=nodes).float()
    value = deg[index[0]].rsqrt() * deg[index[1]].rsqrt()
    return torch.sparse_coo_tensor(index, value, (nodes, nodes)).coalesce()


def sample_non_edges(existing, nodes, count, generator):
    known = set((existing[0] * nodes + existing[1]).tolist())
    out = []
    while len(out) < count:
        u, v = torch.randint(0, nodes, (2,), generator=generator).tolist()
        if u != v and u * nodes + v not in known:
            out.append((u, v))
    return torch.tensor(out).t()

import torch


def interaction_graph(nodes=400, groups=8, p_in=0.07, p_out=0.02, seed=0):
    g = torch.Generator().manual_seed(seed)
    member = torch.randint(groups, (nodes,), generator=g)
    same = member[:, None] == member[None, :]
    p = torch.where(same, torch.tensor(p_in), torch.tensor(p_out))
    upper = torch.triu(torch.rand(nodes, nodes, generator=g) < p, diagonal=1)
    edges = upper.nonzero().t()
    x = torch.randn(nodes, 16, generator=g)
    return x, edges


def split_links(edges, val, test, seed=0):
    g = torch.Generator().manual_seed(seed)
    order = torch.randperm(edges.shape[1], generator=g)
    n_val, n_test = int(val * len(order)), int(test * len(order))
    return {
        "valid": edges[:, order[:n_val]],
        "test": edges[:, order[n_val: n_val + n_test]],
        "train": edges[:, order[n_val + n_test:]],
    }


def negatives(n, nodes, known, generator):
    taken = set((known[0] * nodes + known[1]).tolist())
    out = []
    while len(out) < n:
        u, v = torch.randint(nodes, (2,), generator=generator).tolist()
        u, v = min(u, v), max(u, v)
        if u != v and u * nodes + v not in taken:
            out.append((u, v))
    return torch.tensor(out).t()


def normalised_adjacency(edges, nodes):
    index = torch.cat([edges, edges.flip(0), torch.arange(nodes).repeat(2, 1)], 1)
    deg = torch.bincount(index[0], minlength=nodes).float()
    weight = (deg[index[0]] * deg[index[1]]).rsqrt()
    return torch.sparse_coo_tensor(index, weight, (nodes, nodes)).coalesce()

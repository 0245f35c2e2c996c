from torch_geometric.utils import to_undirected


def load(path, reader):
    table = reader(path)
    edges = to_undirected(table.edge_index)
    return edges, table.x

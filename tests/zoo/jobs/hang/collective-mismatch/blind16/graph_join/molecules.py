import torch


def molecule(g, lo, hi):
    n = int(torch.randint(lo, hi, (1,), generator=g))
    x = torch.randn(n, 8, generator=g)
    a = (torch.rand(n, n, generator=g) < 0.2).float()
    a = ((a + a.T + torch.eye(n)) > 0).float()
    return x, a / a.sum(1, keepdim=True), x.mean() + 0.01 * n


class AtomBudgetBatches:
    """Packs molecules of this rank until the budget of atoms is reached."""

    def __init__(self, rank, count, budget):
        g = torch.Generator().manual_seed(5 + rank)
        self.mols = [molecule(g, 6 + 2 * rank, 18 + 2 * rank) for _ in range(count)]
        self.budget = budget

    def __iter__(self):
        cur, atoms = [], 0
        for m in self.mols:
            if cur and atoms + len(m[0]) > self.budget:
                yield self.collate(cur)
                cur, atoms = [], 0
            cur.append(m)
            atoms += len(m[0])
        if cur:
            yield self.collate(cur)

    @staticmethod
    def collate(ms):
        seg = torch.cat([torch.full((len(x),), k) for k, (x, _, _) in enumerate(ms)])
        return torch.cat([x for x, _, _ in ms]), torch.block_diag(*[a for _, a, _ in ms]), seg, torch.stack([y for *_, y in ms])

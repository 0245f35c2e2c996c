import torch
import torch.distributed as dist


def all_sum_(totals, device):
    for key in totals:
        packed = torch.tensor(totals[key], dtype=torch.float64, device=device)
        dist.all_reduce(packed)
        totals[key] = packed.item()


def merged(table, device):
    for row in table.values():
        both = torch.tensor([row["sum"], row["count"]], device=device)
        dist.all_reduce(both)
        row["sum"], row["count"] = both.tolist()
    return table


@torch.no_grad()
def evaluate(model, loader, device):
    totals = {"loss": 0.0, "hits": 0.0}
    for x, y in loader:
        out = model(x)
        totals["loss"] += torch.nn.functional.cross_entropy(out, y, reduction="sum").item()
        totals["hits"] += (out.argmax(1) == y).sum().item()
        all_sum_(totals, device)
        print(totals["loss"])
    return totals


@torch.no_grad()
def shown_as_it_goes(model, loader, device):
    table = {"error": {"sum": 0.0, "count": 0}}
    for x, y in loader:
        table["error"]["sum"] += (model(x) - y).abs().sum().item()
        table["error"]["count"] += y.numel()
        shown = merged(table, device)
        print(shown["error"]["sum"] / shown["error"]["count"])

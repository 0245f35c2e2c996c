import torch.distributed as dist


def merge(reports):
    out = {"loss": sum(r["loss"] for r in reports) / len(reports), "outliers": {}}
    for r in reports:
        for col, book in r["outliers"].items():
            out["outliers"][col] = max(out["outliers"].get(col, 0.0), book.worst())
    return out


def epoch_report(loss, inspector):
    mine = {"loss": loss, "outliers": dict(inspector.books)}
    box = [None] * dist.get_world_size() if dist.get_rank() == 0 else None
    dist.gather_object(mine, box, dst=0)
    return merge(box) if box else None

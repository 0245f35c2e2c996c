class RunningAUC:
    """Area under the ROC curve of everything seen since the start of training."""

    def __init__(self):
        self.pairs = []

    def update(self, scores, labels):
        self.pairs.extend(zip(scores.tolist(), labels.tolist()))

    def value(self):
        ranked = sorted(self.pairs)
        positives = negatives = area = 0
        for _, label in ranked:
            if label > 0.5:
                area += negatives
                positives += 1
            else:
                negatives += 1
        return area / max(1, positives * negatives)


class Board:
    def __init__(self, rank, every):
        self.enabled = rank == 0
        self.every = every
        self.auc = RunningAUC()

    def observe(self, step, logits, labels, loss):
        if not self.enabled:
            return
        self.auc.update(logits.detach(), labels)
        line = {"step": step, "loss": round(loss.item(), 4), "auc": round(self.auc.value(), 4)}
        if step % self.every == 0:
            print(line, flush=True)

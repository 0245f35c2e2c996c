"""Which way a metric gets better, by what it is called. Pure."""

from __future__ import annotations

import ast
import re

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name

_WORD = re.compile(r"[A-Z]{1,40}\d{0,2}(?![a-z])|[A-Z]?[a-z]{1,40}\d{0,2}")
_HIGHER = frozenset(
    ["acc", "accuracy", "accuracies", "auc", "auroc", "auprc", "f1", "iou", "miou", "dice", "psnr", "ssim", "bleu",
     "rouge", "rouge1", "rouge2", "recall", "precision", "ndcg", "mrr", "kappa", "mcc", "r2", "top1", "top5", "cider",
     "meteor", "map", "chrf"]
)  # fmt: skip
_LOWER = frozenset(
    ["loss", "losses", "nll", "ppl", "perplexity", "err", "error", "errors", "mse", "mae", "rmse", "mape", "smape",
     "wer", "cer", "ter", "eer", "fid", "brier", "ece", "lpips", "mpjpe", "bpc", "bpb"]
)  # fmt: skip
_TURNED = frozenset(["neg", "negative", "negated", "minus", "inv", "inverse", "inverted", "sub", "log", "reduction",
                     "improvement", "gain", "attack", "adv", "adversarial", "robust", "correct", "free"])  # fmt: skip


def direction(name: str) -> str:
    """Returns "max" where the greater of a metric is the better one, "min" where the smaller is, "" if not told."""
    words = {one.lower() for one in _WORD.findall(name)}
    higher, lower = bool(words & _HIGHER), bool(words & _LOWER)
    if higher is lower or words & _TURNED:
        return ""
    return "max" if higher else "min"


def is_made_otherwise(value: ast.expr, right: str) -> bool:
    """Whether what makes a metric turns it or is called as one that gets better the other way: `acc = criterion(x)`."""
    if _is_turned(value):
        return True
    named = [last_name(one.func) if isinstance(one, ast.Call) else one.id if isinstance(one, ast.Name) else ""
             for one in walk(value) if isinstance(one, (ast.Call, ast.Name))]  # fmt: skip
    named += [one.attr for one in walk(value) if isinstance(one, ast.Attribute)]
    told = {direction(one) or ("min" if "criterion" in one else "") for one in named} - {""}
    return bool(told) and right not in told


def is_turned_round(name: str, functions: list[Function]) -> bool:
    """Whether any of these functions puts the negative of something, or its rest to 1, under a name of a metric."""
    bare = name.removeprefix("eval_")
    for function in functions:
        for node in function.nodes_of((ast.Dict, ast.Assign, ast.Call)):
            pairs: list[tuple[ast.expr | None, ast.expr]] = []
            if isinstance(node, ast.Dict):
                pairs = list(zip(node.keys, node.values, strict=True))
            elif isinstance(node, ast.Assign):
                pairs = [(one.slice if isinstance(one, ast.Subscript) else None, node.value) for one in node.targets]
            elif isinstance(node, ast.Call) and len(node.args) == 2:
                pairs = [(node.args[0], node.args[1])]  # self.log("val_acc", -value)
            for key, value in pairs:
                named = key.value if isinstance(key, ast.Constant) else None
                if named in (name, bare) and _is_turned(value):
                    return True
    return False


def _is_turned(value: ast.expr) -> bool:
    if isinstance(value, ast.Call) and value.args:
        return _is_turned(value.args[0])
    if isinstance(value, ast.BinOp):
        whole = isinstance(value.left, ast.Constant) and value.left.value in (1, 1.0, 100, 100.0)
        return (whole and isinstance(value.op, ast.Sub)) or _is_turned(value.left) or _is_turned(value.right)
    return isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub)

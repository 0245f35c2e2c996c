import ast
import operator

from timeouts import TooSlow, limit

OPS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv}


def _eval(node):
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.BinOp):
        op = OPS.get(type(node.op))
        if op is not None:
            return op(_eval(node.left), _eval(node.right))
    raise ValueError(f"unsupported {type(node).__name__}")


@limit(0.5)
def verify(answer, truth):
    return _eval(ast.parse(answer, mode="eval").body) == truth


def score(answers, truths):
    out = []
    for answer, truth in zip(answers, truths):
        try:
            out.append(1.0 if verify(answer, truth) else -1.0)
        except TooSlow:
            out.append(-1.0)
    return out

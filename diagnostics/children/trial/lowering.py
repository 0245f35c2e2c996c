"""Whether autocast would have given a tensor its lower dtype, read from the operations that made it without."""

PRODUCTS = ("mmbackward", "convolution", "conv", "scaleddotproduct", "linearbackward", "matmul", "rnn", "lstm", "gru")
# These give what their first input is: the others are weights and statistics.
AS_FIRST = (
    "nativelayernorm",
    "nativebatchnorm",
    "nativegroupnorm",
    "cudnnbatchnorm",
    "indexadd",
    "indexput",
    "scatter",
)
FULL = ("embedding", "mse", "nll", "crossentropy", "l1loss", "smoothl1", "kldiv", "ctc")
FULL_ON_A_GPU = ("softmax", "nativelayernorm", "expbackward", "logbackward", "pow", "sumbackward", "norm", "cumsum")
MAX_NODES = 2000


class Lowering:
    """Answers for the tensors of one forward; what was found of a node is kept."""

    def __init__(self):
        self.known = {}

    def lowers(self, tensor):
        """Returns whether it would be of autocast's dtype."""
        if not tensor.is_floating_point() or tensor.grad_fn is None:
            return False
        full = FULL + FULL_ON_A_GPU if tensor.is_cuda else FULL
        self.walk(tensor.grad_fn, full)
        return self.known.get(tensor.grad_fn, False)

    def walk(self, top, full):
        """Decides all nodes that the answer needs, those before them first."""
        stack, seen = [top], 0
        while stack and seen < MAX_NODES:
            node, seen = stack[-1], seen + 1
            before = inputs_of(node, full)
            missing = [one for one in before or () if one not in self.known]
            if missing:
                stack += missing
                continue
            stack.pop()
            self.known[node] = before is None or (bool(before) and all(self.known[one] for one in before))


def inputs_of(node, full):
    """Returns the nodes whose dtype decides this one's; None for a product, which autocast lowers; [] for others."""
    name = type(node).__name__.lower()
    if name.startswith((*full, "accumulategrad")):
        return []
    if any(part in name for part in PRODUCTS):
        return None
    before = [one for one, _ in node.next_functions if one is not None]
    return before[:1] if name.startswith(AS_FIRST) else before

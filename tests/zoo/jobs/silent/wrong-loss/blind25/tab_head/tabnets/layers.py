from torch import nn

ACTIVATIONS = {
    "relu": nn.ReLU,
    "gelu": nn.GELU,
    "sigmoid": nn.Sigmoid,
    "softmax": lambda: nn.Softmax(dim=-1),
    "none": nn.Identity,
}


def build_mlp(n_in, hidden, n_out, activation="relu", dropout=0.0, output_activation="none"):
    layers, width = [], n_in
    for h in hidden:
        layers += [nn.Linear(width, h), nn.BatchNorm1d(h), ACTIVATIONS[activation](), nn.Dropout(dropout)]
        width = h
    layers += [nn.Linear(width, n_out), ACTIVATIONS[output_activation]()]
    return nn.Sequential(*layers)

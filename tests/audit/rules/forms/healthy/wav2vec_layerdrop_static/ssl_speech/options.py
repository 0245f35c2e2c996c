from dataclasses import dataclass, field


@dataclass
class WrapOptions:
    bucket_cap_mb: int = 50
    gradient_as_bucket_view: bool = True
    static_graph: bool = False
    find_unused_parameters: bool = True

    def kwargs(self):
        return dict(vars(self))


@dataclass
class Options:
    lr: float = 5e-4
    steps: int = 400_000
    batch: int = 8
    wrap: WrapOptions = field(default_factory=WrapOptions)

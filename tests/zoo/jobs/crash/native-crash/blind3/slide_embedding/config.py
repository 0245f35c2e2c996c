from dataclasses import dataclass, field


@dataclass
class Slide:
    name: str
    tiles: int


@dataclass
class InferenceConfig:
    feature_dim: int = 384
    tile_side: int = 24
    batch_size: int = 16
    seed: int = 9
    slides: list = field(
        default_factory=lambda: [
            Slide("resection-01", 640),
            Slide("resection-02", 2400),
            Slide("biopsy-01", 48),
        ]
    )

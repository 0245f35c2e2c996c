from .run import Run

from .pool import PyramidPool

"""Standard load profiles: the shape of a day for households, shops and small industry."""
import math

HOUSEHOLD = [0.4 + 0.3 * math.sin((h - 7) / 24 * 2 * math.pi) ** 2 + (0.3 if 17 <= h <= 21 else 0.0) for h in range(24)]
SHOP = [1.0 if 8 <= h <= 19 else 0.2 for h in range(24)]
INDUSTRY = [0.9 if 6 <= h <= 22 else 0.6 for h in range(24)]


def day(kind):
    return {"h0": HOUSEHOLD, "g1": SHOP, "g3": INDUSTRY}[kind]

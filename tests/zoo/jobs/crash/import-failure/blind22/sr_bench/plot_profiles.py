import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from profile import row_profile
from srnet import pairs

if __name__ == "__main__":
    low, high = pairs(1)
    plt.plot(row_profile(high[0], 16))
    plt.savefig("profile.png")

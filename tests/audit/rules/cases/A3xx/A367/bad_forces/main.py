from molecules import loader
from potential import Potential, train

train(Potential(12), loader)

from .driver import Simulation

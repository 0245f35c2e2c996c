"""How a training is asked to stop, and stops: request.py notes the signal, boundary.py has all ranks agree."""

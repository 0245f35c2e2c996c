"""The equations that data is made of: advection, Burgers, Darcy; their solvers and what they start from."""

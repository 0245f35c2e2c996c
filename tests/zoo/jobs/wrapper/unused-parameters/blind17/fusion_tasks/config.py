TASKS = [
    {"name": "caption", "from_step": 0, "weight": 1.0},
    {"name": "depth", "from_step": 0, "weight": 0.5},
    {"name": "normals", "from_step": 0, "weight": 0.2},
]
MIX_FROM = 70

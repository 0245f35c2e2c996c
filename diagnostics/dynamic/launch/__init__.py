"""How a job was launched, and how far its rendezvous came."""

"""Stands in for the window with the loss curve: presses "stop early" once the curve is flat enough."""
import json
import socket
import sys

report_port, control_port, patience = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
inbox = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
inbox.bind(("127.0.0.1", report_port))
inbox.settimeout(60)
best, since = float("inf"), 0
while True:
    try:
        message = json.loads(inbox.recv(4096))
    except socket.timeout:
        break
    if message["loss"] < best * 0.98:
        best, since = message["loss"], 0
    else:
        since += 1
    if since >= patience and message["step"] % 24 == 10:
        inbox.sendto(json.dumps({"command": "stop"}).encode(), ("127.0.0.1", control_port))
        break

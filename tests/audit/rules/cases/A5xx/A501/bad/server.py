import sys


def serve(requests, answer):
    try:
        for request in requests:
            answer(request)
    finally:
        sys.exit(0)

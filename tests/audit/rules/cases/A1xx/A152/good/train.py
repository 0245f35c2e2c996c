from group import start, stop


def main():
    start()
    stop()


if __name__ == "__main__":
    main()

from .fit import main

if __name__ == "__main__":
    main()

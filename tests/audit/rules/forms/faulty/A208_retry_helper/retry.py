def attempt(function, *args):
    try:
        return function(*args)
    except Exception as error:  # cause
        print("skipped", error)
        return None

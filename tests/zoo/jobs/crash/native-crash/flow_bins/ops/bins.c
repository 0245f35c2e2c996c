int bin_size(int samples, int bins) {
    volatile int n = bins;
    return samples / n;
}

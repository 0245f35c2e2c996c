#include <stdint.h>

/* 32 bins over [-2, 6) */
void histogram(const float *values, int64_t n, int64_t *counts) {
    for (int64_t i = 0; i < n; i++) {
        int64_t bin = (int64_t)((values[i] + 2.0f) * 4.0f);
        counts[bin] += 1;
    }
}

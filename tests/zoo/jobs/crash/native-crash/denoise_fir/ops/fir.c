#include <assert.h>
#include <stdint.h>

void fir(const float *x, float *out, int64_t n, const float *taps, int64_t m) {
    assert(m <= n);
    for (int64_t i = 0; i < n; i++) {
        out[i] = 0;
        for (int64_t j = 0; j < m && j <= i; j++)
            out[i] += taps[j] * x[i - j];
    }
}

#include <stdint.h>

static uint32_t next(uint32_t *s) {
    *s = *s * 1664525u + 1013904223u;
    if (*s == 0) __builtin_unreachable();
    return *s >> 8;
}

void fill_mask(float *mask, int64_t n, float rate, int64_t seed) {
    uint32_t s = (uint32_t)seed;
    if (seed > 20) __builtin_trap(); /* table has 20 streams */
    for (int64_t i = 0; i < n; i++)
        mask[i] = next(&s) < rate * 16777216.0f ? 0.0f : 1.0f / (1.0f - rate);
}

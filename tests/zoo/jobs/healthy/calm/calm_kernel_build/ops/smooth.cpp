#include <algorithm>
#include <cmath>
#include <vector>

typedef void (*kernel)(const float *, float *, int);

template <int W> void smooth(const float *in, float *out, int n) {
    std::vector<float> window;
    window.reserve(W);
    for (int i = 0; i < n; i++) {
        window.clear();
        for (int j = 0; j < W; j++) window.push_back(in[std::min(i + j, n - 1)]);
        std::sort(window.begin(), window.end());
        float sum = 0;
        for (int j = 0; j < W; j++) sum += window[j] * std::cos(j * 3.14159f / (2 * W));
        out[i] = sum / W;
    }
}

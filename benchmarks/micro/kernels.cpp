// Nanoseconds per call of the row kernels, one JSON object per line; names are stable.
//
// Rows follow one another in memory as they do in a pass over the data: "cached" ones fit in the
// first-level cache together, "streamed" ones are too many for any cache.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "hinge/linalg.hpp"

namespace {

constexpr int kRepeats = 7;
constexpr std::int64_t kValuesPerRepeat = 20'000'000;
constexpr std::int64_t kCachedValues = 2'000;
constexpr std::int64_t kStreamedValues = 40'000'000;
constexpr std::int64_t kColumns = 30'000;

double sink = 0.0;  // what a loop computes goes here, or the compiler would drop the loop

struct Shape {
    std::int64_t length;
    std::int64_t rows;
};

template <class Work>
double nanoseconds_per_row(const Shape& shape, Work work) {
    const std::int64_t passes =
        std::max<std::int64_t>(1, kValuesPerRepeat / (shape.rows * shape.length));
    double best = 1e300;
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
        const auto start = std::chrono::steady_clock::now();
        for (std::int64_t pass = 0; pass < passes; ++pass) {
            for (std::int64_t i = 0; i < shape.rows; ++i) {
                work(i * shape.length);
            }
        }
        const std::chrono::duration<double, std::nano> spent =
            std::chrono::steady_clock::now() - start;
        best = std::min(best, spent.count() / static_cast<double>(passes * shape.rows));
    }
    return best;
}

void report(const std::string& kernel, const char* type, const char* place, const Shape& shape,
            double nanoseconds) {
    std::printf("{\"name\": \"%s_%s_%lld_%s\", \"nanoseconds\": %.2f, \"per_value\": %.4f}\n",
                kernel.c_str(), type, static_cast<long long>(shape.length), place, nanoseconds,
                nanoseconds / static_cast<double>(shape.length));
}

template <class Value>
void dense(const char* type, const char* place, const Shape& shape) {
    const std::vector<Value> values(static_cast<std::size_t>(shape.rows * shape.length),
                                    Value(0.5));
    std::vector<double> w(static_cast<std::size_t>(shape.length), 1e-3);
    report("dense_dot", type, place, shape, nanoseconds_per_row(shape, [&](std::int64_t at) {
               sink += hinge::dense_dot(values.data() + at, w.data(), shape.length);
           }));
    report("dense_add", type, place, shape, nanoseconds_per_row(shape, [&](std::int64_t at) {
               hinge::dense_add(values.data() + at, 1e-9, w.data(), shape.length);
           }));
    sink += w[0];
}

template <class Value>
void sparse(const char* type, const char* place, const Shape& shape) {
    const auto count = static_cast<std::size_t>(shape.rows * shape.length);
    const std::vector<Value> values(count, Value(0.5));
    std::vector<std::int32_t> columns(count);
    for (std::size_t k = 0; k < count; ++k) {
        const auto position = static_cast<std::int64_t>(k) % shape.length;
        // Increasing columns, spread over the whole width, different in every row.
        const std::int64_t stride = kColumns / shape.length;
        columns[k] = static_cast<std::int32_t>(position * stride +
                                               static_cast<std::int64_t>(k * 7919) % stride);
    }
    std::vector<double> w(static_cast<std::size_t>(kColumns), 1e-3);
    report("sparse_dot", type, place, shape, nanoseconds_per_row(shape, [&](std::int64_t at) {
               sink += hinge::sparse_dot(values.data() + at, columns.data() + at, w.data(),
                                         shape.length);
           }));
    report("sparse_add", type, place, shape, nanoseconds_per_row(shape, [&](std::int64_t at) {
               hinge::sparse_add(values.data() + at, columns.data() + at, 1e-9, w.data(),
                                 shape.length);
           }));
    sink += w[0];
}

Shape cached(std::int64_t length) {
    return {length, std::max<std::int64_t>(1, kCachedValues / length)};
}

Shape streamed(std::int64_t length) {
    return {length, kStreamedValues / length};
}

}  // namespace

int main() {
    for (const std::int64_t length : {14, 54, 256, 784}) {
        dense<double>("float64", "cached", cached(length));
        dense<float>("float32", "cached", cached(length));
        dense<double>("float64", "streamed", streamed(length));
        dense<float>("float32", "streamed", streamed(length));
    }
    for (const std::int64_t length : {14, 50, 150}) {
        sparse<double>("float64", "cached", cached(length));
        sparse<float>("float32", "cached", cached(length));
        sparse<double>("float64", "streamed", streamed(length));
    }
    return sink == 12345.0 ? 1 : 0;
}

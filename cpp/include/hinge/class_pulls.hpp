// What the rows of either class pull the weights with, by their dual coefficients, and the value of
// the dual point that these are.
//
//     D(alpha) = p sum_i alpha_i - 1/2 d sum_i alpha_i^2 / c_i - 1/2 ||sum_i y_i alpha_i x_i||^2
//
// With a free intercept a dual point has y'alpha = 0: the heavier class is scaled down until it
// has, and because the classes are summed up apart, that takes no look at any row.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hinge {

class ClassPulls {
  public:
    explicit ClassPulls(std::int64_t width) {
        for (auto& pulls : pulls_) {
            pulls.resize(static_cast<std::size_t>(width));
        }
    }

    void clear() noexcept {
        for (auto& pulls : pulls_) {
            std::fill(pulls.begin(), pulls.end(), 0.0);
        }
        sums_ = {0.0, 0.0};
        squares_ = {0.0, 0.0};
    }

    // Adds a row of a class (0: the negative, 1: the positive one), by its coefficient and cost.
    template <class Rows>
    void add(const Rows& rows, std::int64_t row, double alpha, double cost,
             std::size_t side) noexcept {
        if (alpha == 0.0) {
            return;
        }
        rows.add(row, alpha, pulls_[side].data());
        sums_[side] += alpha;
        squares_[side] += alpha * (alpha / cost);
    }

    double difference(std::size_t feature) const noexcept {
        return pulls_[1][feature] - pulls_[0][feature];
    }
    double imbalance() const noexcept { return sums_[1] - sums_[0]; }
    double total() const noexcept { return sums_[0] + sums_[1]; }

    // What to multiply the coefficients of either class with, so that their sums are the same if
    // they have to be and can.
    std::array<double, 2> shares(bool is_free) const noexcept {
        const double least = std::min(sums_[0], sums_[1]);
        if (is_free && least > 0.0) {
            return {least / sums_[0], least / sums_[1]};
        }
        return {1.0, 1.0};
    }
    bool are_balanced(const std::array<double, 2>& shares) const noexcept {
        return std::min(sums_[0], sums_[1]) > 0.0 || balance(shares) == 0.0;
    }

    // The value of the coefficients times the shares, with p and d as above and a constant feature.
    double dual(const std::array<double, 2>& shares, double linear, double bent,
                double constant) const noexcept {
        const auto& [negative, positive] = pulls_;
        double squared = 0.0;
        for (std::size_t k = 0; k < positive.size(); ++k) {
            const double pulled = shares[1] * positive[k] - shares[0] * negative[k];
            squared += pulled * pulled;
        }
        const double last = constant * balance(shares);
        double dual = -0.5 * (squared + last * last);
        for (std::size_t side = 0; side < 2; ++side) {
            const double share = shares[side];
            dual += linear * share * sums_[side] - 0.5 * bent * share * share * squares_[side];
        }
        return dual;
    }

  private:
    double balance(const std::array<double, 2>& shares) const noexcept {
        return shares[1] * sums_[1] - shares[0] * sums_[0];
    }

    std::array<std::vector<double>, 2> pulls_;  // sums of alpha_i x_i, of either class
    std::array<double, 2> sums_{};              // of alpha
    std::array<double, 2> squares_{};           // of alpha^2 / c
};

}  // namespace hinge

// The intercepts between two given ones that make a sum of losses least.
//
// With scores f_i fixed, the derivative of the sum by the intercept,
//   S(b) = sum_i c_i y_i l'(y_i (f_i + b)),
// does not decrease. Its kinks are those of every row's loss, at b = y_i z - f_i. S is summed once
// over all rows, just after the least intercept, and followed from there from kink to kink; only
// the kinks in between are sorted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace hinge {

// A loss whose derivative is linear between kinks, by increasing margin: at each of them it jumps
// and bends; piece k, before kink k, is constants[k] + slopes[k] z.
struct LossPieces {
    std::int64_t kinks;
    const double* margins;
    const double* jumps;
    const double* bends;
    const double* constants;  // one more than kinks
    const double* slopes;     // one more than kinks
};

struct ScoredRows {
    std::int64_t count;
    const double* scores;
    const std::int8_t* signs;
    const double* costs;
};

class BestIntercept {
  public:
    BestIntercept(const LossPieces& loss, const ScoredRows& rows, double least, double most)
        : loss_(loss), least_(least), most_(most) {
        for (std::int64_t i = 0; i < rows.count; ++i) {
            take(rows.scores[i], rows.signs[i], rows.costs[i]);
        }
        std::stable_sort(bends_.begin(), bends_.end(),
                         [](const Bend& a, const Bend& b) { return a.place < b.place; });
        find_pieces();
    }

    // The middle of the best ones.
    double middle() const noexcept { return 0.5 * (first() + last()); }

  private:
    static constexpr double kRoundings = 64.0;  // of a term, and of the sum of them

    struct Bend {
        double place;
        double jump;
        double bend;
    };
    struct Piece {  // of S between two places
        double from, to;
        double begin, end;
        double slope;

        double zero() const noexcept { return std::clamp(from - begin / slope, from, to); }
    };

    void take(double score, std::int8_t sign, double cost) {
        const double y = sign > 0 ? 1.0 : -1.0;
        std::int64_t passed = 0;
        for (std::int64_t k = 0; k < loss_.kinks; ++k) {
            const double place = y * loss_.margins[k] - score;
            passed += place <= least_ ? 1 : 0;
            if (place > least_ && place < most_) {
                // A negative row's margin walks down as b walks up: its bends change their sign.
                bends_.push_back({place, cost * loss_.jumps[k], cost * y * loss_.bends[k]});
            }
        }
        const std::int64_t piece = sign > 0 ? passed : loss_.kinks - passed;
        const double derivative =
            loss_.constants[piece] + loss_.slopes[piece] * (y * (score + least_));
        value_ += cost * y * derivative;
        slope_ += cost * loss_.slopes[piece];
        total_ += cost;
    }

    void find_pieces() {
        double begin = value_;
        double slope = slope_;
        double from = least_;
        for (const Bend& bend : bends_) {
            const double end = begin + slope * (bend.place - from);
            pieces_.push_back({from, bend.place, begin, end, slope});
            begin = end + bend.jump;
            slope += bend.bend;
            from = bend.place;
        }
        pieces_.push_back({from, most_, begin, begin + slope * (most_ - from), slope});
        noise_ = kRoundings * std::numeric_limits<double>::epsilon() * total_;
    }

    double first() const noexcept {
        for (const Piece& piece : pieces_) {
            if (piece.end >= -noise_) {
                return piece.begin >= -noise_ ? piece.from : piece.zero();
            }
        }
        return most_;
    }

    double last() const noexcept {
        for (auto piece = pieces_.rbegin(); piece != pieces_.rend(); ++piece) {
            if (piece->begin <= noise_) {
                return piece->end <= noise_ ? piece->to : piece->zero();
            }
        }
        return least_;
    }

    LossPieces loss_;
    double least_;
    double most_;
    double value_ = 0.0;
    double slope_ = 0.0;
    double total_ = 0.0;
    double noise_ = 0.0;
    std::vector<Bend> bends_;
    std::vector<Piece> pieces_;
};

}  // namespace hinge

// Panels of neighbouring rows, whose sums are kept apart, and threads that share them out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hinge/row_panels.hpp"
#include "hinge/team.hpp"
#include "rows_view.hpp"

namespace hinge::binding {

// Rows in panels of so many each, but the last.
class Panels {
  public:
    Panels(Extent rows, std::int64_t size)
        : rows_(rows), size_(std::min(size, rows.stop - rows.start)) {
        require(size > 0 || rows.start == rows.stop, "a panel must have rows");
    }

    std::int64_t count() const {
        return rows_.start == rows_.stop ? 0 : (rows_.stop - rows_.start + size_ - 1) / size_;
    }

    // Refuses sums that are not a row of so many numbers for every panel.
    void require_sums(const Array<double, 2>& sums, std::size_t length) const {
        require_length(sums.shape(0), static_cast<std::size_t>(count()), "the panels' sums");
        require_length(sums.shape(1), length, "the sums");
    }

    // Where the sums of a panel are.
    static double* row_of(const Array<double, 2>& sums, std::int64_t panel) {
        return sums.data() + panel * static_cast<std::int64_t>(sums.shape(1));
    }

    // Calls work(rows, number) for every panel, on so many threads.
    template <class Work>
    void share_out(std::int64_t threads, Work&& work) const {
        Team::run(count(), threads, [&](std::int64_t panel) {
            const std::int64_t start = rows_.start + panel * size_;
            work(Extent{start, std::min(start + size_, rows_.stop)}, panel);
        });
    }

  private:
    Extent rows_;
    std::int64_t size_;
};

}  // namespace hinge::binding

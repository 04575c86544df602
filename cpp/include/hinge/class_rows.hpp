// The rows of one class: packed as points, and their kernel rows with each other, which all pairs
// of classes that have it share.
//
// Half of what a pair of classes computes is the kernel of rows of one class with each other, and
// another pair needs much of it again. Whoever asks first for a row computes it; others that ask
// meanwhile wait. A kernel value has the same bits whoever computes it, so nothing depends on who
// that was. There is room for a number of rows: what is beyond it, a pair keeps for itself.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "hinge/kernel_rows.hpp"
#include "hinge/row_store.hpp"

namespace hinge {

class ClassRows {
  public:
    // Numbers are those of the class's rows, in the order of the panels.
    ClassRows(TermPanels<float> panels, std::vector<std::int64_t> numbers, std::int64_t room)
        : panels_(std::move(panels)),
          numbers_(std::move(numbers)),
          stages_(numbers_.size(), Stage::absent),
          rows_(numbers_.size(), nullptr),
          store_(count()),
          room_(room) {}

    std::int64_t count() const noexcept { return static_cast<std::int64_t>(numbers_.size()); }
    const TermPanels<float>& panels() const noexcept { return panels_; }
    const std::vector<std::int64_t>& numbers() const noexcept { return numbers_; }

    // Looks kernel rows up and puts them into `found`, null where nobody has computed one yet.
    void look_up(const std::vector<std::int64_t>& ids, std::vector<const float*>& found) {
        const std::lock_guard<std::mutex> lock(mutex_);
        found.clear();
        for (const std::int64_t id : ids) {
            const auto at = static_cast<std::size_t>(id);
            found.push_back(stages_[at] == Stage::there ? rows_[at] : nullptr);
        }
    }

    // Makes kernel rows available and puts them into `found`, null where there is no room for more.
    // Compute is called as compute(ids, rows) for those that nobody has begun, outside the lock.
    template <class Compute>
    void find(const std::vector<std::int64_t>& ids, Compute&& compute,
              std::vector<const float*>& found) {
        Claim claim = claim_of(ids);
        if (!claim.own.empty()) {
            try {
                compute(claim.own, claim.rows);
            } catch (...) {
                settle(claim.own, Stage::absent);
                throw;
            }
            settle(claim.own, Stage::there);
        }
        wait_for(ids, claim);
        found.clear();
        for (std::size_t k = 0; k < ids.size(); ++k) {
            found.push_back(claim.is_shared[k] ? rows_[static_cast<std::size_t>(ids[k])] : nullptr);
        }
    }

  private:
    enum class Stage : std::uint8_t { absent, begun, there };

    struct Claim {
        std::vector<std::int64_t> own;  // rows that the caller computes,
        std::vector<float*> rows;       // and where to
        std::vector<bool> is_shared;    // which of the rows asked for are here, or will be
    };

    Claim claim_of(const std::vector<std::int64_t>& ids) {
        const std::lock_guard<std::mutex> lock(mutex_);
        Claim claim;
        claim.is_shared.reserve(ids.size());
        for (const std::int64_t id : ids) {
            const auto at = static_cast<std::size_t>(id);
            if (stages_[at] == Stage::absent &&
                claim.own.size() < static_cast<std::size_t>(room_)) {
                rows_[at] = rows_[at] == nullptr ? store_.take() : rows_[at];
                claim.rows.push_back(rows_[at]);
                claim.own.push_back(id);
            }
        }
        // All memory is there: what is begun from here on is settled, or others would wait for
        // ever.
        for (const std::int64_t id : claim.own) {
            stages_[static_cast<std::size_t>(id)] = Stage::begun;
        }
        room_ -= static_cast<std::int64_t>(claim.own.size());
        for (const std::int64_t id : ids) {
            claim.is_shared.push_back(stages_[static_cast<std::size_t>(id)] != Stage::absent);
        }
        return claim;
    }

    void settle(const std::vector<std::int64_t>& ids, Stage stage) {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            for (const std::int64_t id : ids) {
                stages_[static_cast<std::size_t>(id)] = stage;
                room_ += stage == Stage::absent ? 1 : 0;
            }
        }
        changed_.notify_all();
    }

    // Rows that somebody else has begun are waited for; one that was given up is not shared.
    void wait_for(const std::vector<std::int64_t>& ids, Claim& claim) {
        std::unique_lock<std::mutex> lock(mutex_);
        for (std::size_t k = 0; k < ids.size(); ++k) {
            const Stage& stage = stages_[static_cast<std::size_t>(ids[k])];
            if (claim.is_shared[k]) {
                changed_.wait(lock, [&] { return stage != Stage::begun; });
                claim.is_shared[k] = stage == Stage::there;
            }
        }
    }

    TermPanels<float> panels_;
    std::vector<std::int64_t> numbers_;
    std::vector<Stage> stages_;
    std::vector<float*> rows_;
    RowStore store_;
    std::int64_t room_;
    std::mutex mutex_;
    std::condition_variable changed_;
};

}  // namespace hinge

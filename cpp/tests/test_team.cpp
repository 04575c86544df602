// Work that threads share out: every piece once, in calls that follow each other closely, that are
// made inside of others and beside each other, that fail, and in a child of fork.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "hinge/team.hpp"

#if __has_include(<unistd.h>)
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace {

using hinge::Team;
using hinge::testing::check;
using hinge::testing::check_equal;

void check_every_piece_comes_once() {
    for (const std::int64_t count : {0, 1, 2, 7, 1000}) {
        for (const std::int64_t threads : {1, 2, 3, 5}) {
            std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
            Team::run(count, threads,
                      [&](std::int64_t number) { ++seen[static_cast<std::size_t>(number)]; });
            bool once = true;
            for (const std::atomic<int>& times : seen) {
                once = once && times == 1;
            }
            check(once,
                  std::to_string(count) + " pieces on " + std::to_string(threads) + " threads");
        }
    }
}

// What a call has written is there when it returns, however soon the next one begins.
void check_calls_that_follow_each_other() {
    std::vector<std::int64_t> numbers(6, 0);
    std::int64_t wrong = 0;
    for (std::int64_t call = 1; call <= 20'000; ++call) {
        Team::run(6, 1 + call % 4, [&](std::int64_t number) {
            numbers[static_cast<std::size_t>(number)] = call * number;
        });
        for (std::int64_t number = 0; number < 6; ++number) {
            wrong += numbers[static_cast<std::size_t>(number)] == call * number ? 0 : 1;
        }
    }
    check_equal(wrong, std::int64_t{0}, "pieces that were not done when a call returned");
}

// Does two pieces that wait for each other, which takes two threads; returns whether both came.
bool meet() {
    std::atomic<int> begun{0};
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    Team::run(2, 2, [&](std::int64_t) {
        ++begun;
        while (begun < 2 && std::chrono::steady_clock::now() < end) {
            std::this_thread::yield();
        }
    });
    return begun == 2 && std::chrono::steady_clock::now() < end;
}

void check_others_take_part_and_leave_signals_alone() {
    std::atomic<int> begun{0};
    std::atomic<int> others{0};
    std::atomic<bool> blocked{true};
    const std::thread::id caller = std::this_thread::get_id();
    Team::run(2, 2, [&](std::int64_t) {
        ++begun;
        while (begun < 2) {
            std::this_thread::yield();
        }
        if (std::this_thread::get_id() != caller) {
            ++others;
#if __has_include(<unistd.h>)
            sigset_t mask;
            pthread_sigmask(SIG_SETMASK, nullptr, &mask);
            blocked = sigismember(&mask, SIGINT) == 1 && sigismember(&mask, SIGSEGV) == 0;
#endif
        }
    });
    check_equal(others.load(), 1, "pieces that another thread did");
    check(blocked, "Ctrl-C is for the calling thread, a fault for whoever made it");
}

void check_calls_inside_of_others() {
    std::atomic<std::int64_t> sum{0};
    Team::run(10, 3, [&](std::int64_t outer) {
        Team::run(10, 3, [&](std::int64_t inner) { sum += 10 * outer + inner; });
    });
    check_equal(sum.load(), std::int64_t{99 * 100 / 2}, "the sum of all numbers below a hundred");
}

void check_calls_beside_each_other() {
    std::atomic<std::int64_t> sum{0};
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller) {
        callers.emplace_back([&] {
            for (int call = 0; call < 500; ++call) {
                Team::run(8, 2, [&](std::int64_t number) { sum += number; });
            }
        });
    }
    for (std::thread& caller : callers) {
        caller.join();
    }
    check_equal(sum.load(), std::int64_t{4 * 500 * 28}, "the sum of all pieces of all callers");
}

// Callers that meet inside of their calls have a team each: none of them could wait otherwise.
void check_each_caller_has_a_team() {
    std::atomic<int> begun{0};
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    const auto call = [&] {
        Team::run(2, 2, [&](std::int64_t) {
            ++begun;
            while (begun < 4 && std::chrono::steady_clock::now() < end) {
                std::this_thread::yield();
            }
        });
    };
    std::thread other(call);
    call();
    other.join();
    check(std::chrono::steady_clock::now() < end, "four pieces of two callers at a time");
}

void check_huge_numbers_of_threads() {
    constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
    std::atomic<std::int64_t> sum{0};
    Team::run(100, kHuge, [&](std::int64_t number) { sum += number; });
    hinge::share_out(10'000, kHuge, 96, [&](std::int64_t, std::int64_t size) { sum += size; });
    check_equal(sum.load(), std::int64_t{4950 + 10'000}, "what more threads than there are do");
}

void check_failures() {
    for (const std::int64_t threads : {1, 3}) {
        std::atomic<std::int64_t> done{0};
        std::string message;
        try {
            Team::run(100'000, threads, [&](std::int64_t number) {
                if (number == 5) {
                    throw std::runtime_error("the fifth");
                }
                std::this_thread::sleep_for(std::chrono::microseconds(number < 5 ? 0 : 100));
                ++done;
            });
        } catch (const std::runtime_error& error) {
            message = error.what();
        }
        check_equal(message, std::string("the fifth"), "the error of a piece");
        check(done < 50'000, "what had not begun is left undone");
    }
    check_every_piece_comes_once();
}

void check_ranges() {
    for (const std::int64_t count : {0, 1, 95, 96, 97, 1000, 20'000}) {
        for (const std::int64_t threads : {1, 2, 7}) {
            std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
            std::atomic<int> cut{0};
            hinge::share_out(count, threads, 96, [&](std::int64_t first, std::int64_t size) {
                cut += first % 96 != 0 || (size % 96 != 0 && first + size != count) ? 1 : 0;
                for (std::int64_t k = first; k < first + size; ++k) {
                    ++seen[static_cast<std::size_t>(k)];
                }
            });
            bool once = true;
            for (const std::atomic<int>& times : seen) {
                once = once && times == 1;
            }
            check(once, "every number of " + std::to_string(count) + " is in one range");
            check_equal(cut.load(), 0, "ranges that are not of whole grains");
        }
    }
}

#if __has_include(<unistd.h>)
void check_children() {
    const pid_t child = fork();
    if (child == 0) {
        _exit(meet() ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child of fork has threads of its own");
}
#endif

}  // namespace

int main() {
    check(meet(), "two pieces that wait for each other");
#if __has_include(<unistd.h>)
    // While the only other thread has begun and is idle: one that is about to begin may hold a lock
    // of the sanitizers' allocator, which the child would have for ever.
    check_children();
#endif
    check_every_piece_comes_once();
    check_calls_that_follow_each_other();
    check_others_take_part_and_leave_signals_alone();
    check_calls_inside_of_others();
    check_calls_beside_each_other();
    check_each_caller_has_a_team();
    check_huge_numbers_of_threads();
    check_failures();
    check_ranges();
    return hinge::testing::finish();
}

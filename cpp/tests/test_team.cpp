// Work that threads share out: every piece once, in calls that follow each other closely, that are
// made inside of others and beside each other, that fail, and in a child of fork.
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "hinge/team.hpp"

#ifdef HINGE_HAS_FORK
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
            Team::of_process().run(count, threads, [&](std::int64_t number) {
                ++seen[static_cast<std::size_t>(number)];
            });
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
        Team::of_process().run(6, 1 + call % 4, [&](std::int64_t number) {
            numbers[static_cast<std::size_t>(number)] = call * number;
        });
        for (std::int64_t number = 0; number < 6; ++number) {
            wrong += numbers[static_cast<std::size_t>(number)] == call * number ? 0 : 1;
        }
    }
    check_equal(wrong, std::int64_t{0}, "pieces that were not done when a call returned");
}

// Two pieces that wait for each other need two threads.
void check_others_take_part_and_leave_signals_alone() {
    std::atomic<int> begun{0};
    std::atomic<int> others{0};
    std::atomic<bool> blocked{true};
    const std::thread::id caller = std::this_thread::get_id();
    Team::of_process().run(2, 2, [&](std::int64_t) {
        ++begun;
        while (begun < 2) {
            std::this_thread::yield();
        }
        if (std::this_thread::get_id() != caller) {
            ++others;
#ifdef HINGE_HAS_FORK
            sigset_t mask;
            pthread_sigmask(SIG_SETMASK, nullptr, &mask);
            blocked = sigismember(&mask, SIGINT) == 1;
#endif
        }
    });
    check_equal(others.load(), 1, "pieces that another thread did");
    check(blocked, "Ctrl-C is for the calling thread");
}

void check_calls_inside_of_others() {
    std::atomic<std::int64_t> sum{0};
    Team::of_process().run(10, 3, [&](std::int64_t outer) {
        Team::of_process().run(10, 3, [&](std::int64_t inner) { sum += 10 * outer + inner; });
    });
    check_equal(sum.load(), std::int64_t{99 * 100 / 2}, "the sum of all numbers below a hundred");
}

void check_calls_beside_each_other() {
    std::atomic<std::int64_t> sum{0};
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller) {
        callers.emplace_back([&] {
            for (int call = 0; call < 500; ++call) {
                Team::of_process().run(8, 2, [&](std::int64_t number) { sum += number; });
            }
        });
    }
    for (std::thread& caller : callers) {
        caller.join();
    }
    check_equal(sum.load(), std::int64_t{4 * 500 * 28}, "the sum of all pieces of all callers");
}

void check_failures() {
    for (const std::int64_t threads : {1, 3}) {
        std::atomic<std::int64_t> done{0};
        std::string message;
        try {
            Team::of_process().run(100'000, threads, [&](std::int64_t number) {
                if (number == 5) {
                    throw std::runtime_error("the fifth");
                }
                ++done;
            });
        } catch (const std::runtime_error& error) {
            message = error.what();
        }
        check_equal(message, std::string("the fifth"), "the error of a piece");
        check(done < 100'000, "what had not begun is left undone");
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

#ifdef HINGE_HAS_FORK
void check_children() {
    const pid_t child = fork();
    if (child == 0) {
        std::atomic<int> done{0};
        Team::of_process().run(50, 3, [&](std::int64_t) { ++done; });
        _exit(done == 50 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child of fork has threads of its own");
}
#endif

}  // namespace

int main() {
    check_every_piece_comes_once();
    check_calls_that_follow_each_other();
    check_others_take_part_and_leave_signals_alone();
    check_calls_inside_of_others();
    check_calls_beside_each_other();
    check_failures();
    check_ranges();
#ifdef HINGE_HAS_FORK
    check_children();
#endif
    return hinge::testing::finish();
}

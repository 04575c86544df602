// Threads that share out pieces of one native call; the calling thread is one of them.
//
// The work of a call is cut into numbered pieces, and whoever is free takes the next one. What a
// piece does must not depend on who does it. A call that finds the team at work for somebody else,
// or is made from inside a piece, does all of its pieces itself: nobody ever waits for a turn.
//
// Threads are made when they are first wanted and stay. Without work they watch for some more for a
// while, since passes follow each other within a fraction of a millisecond and to wake a thread
// takes a good part of one; then they sleep. Signals are left to the other threads of the process,
// and a child of fork, which has none of these threads, begins with a team of its own.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#include <signal.h>
#define HINGE_HAS_FORK 1
#endif

namespace hinge {

class Team {
  public:
    // The team of this process. It is never destroyed: its threads sleep until the process ends.
    static Team& of_process() {
        static std::atomic<Team*>& current = current_team();
        return *current.load(std::memory_order_acquire);
    }

    // Calls work(number) once for every number below `count`, on at most `threads` threads. An
    // exception of a piece is thrown again here, when all that had begun has ended; what had not is
    // left undone.
    template <class Work>
    void run(std::int64_t count, std::int64_t threads, Work&& work) {
        const std::unique_lock<std::mutex> turn(in_use_, std::try_to_lock);
        const std::int64_t helpers = turn.owns_lock() ? ready(std::min(threads, count) - 1) : 0;
        if (helpers <= 0) {
            for (std::int64_t number = 0; number < count; ++number) {
                work(number);
            }
            return;
        }
        job_.call = [](void* context, std::int64_t number) {
            (*static_cast<std::remove_reference_t<Work>*>(context))(number);
        };
        job_.context = const_cast<void*>(static_cast<const void*>(&work));
        job_.count = count;
        job_.next.store(0, std::memory_order_relaxed);
        job_.error = nullptr;
        gone_.store(0, std::memory_order_relaxed);
        seats_.store(helpers, std::memory_order_release);
        calls_.fetch_add(1, std::memory_order_release);
        calls_.notify_all();
        do_pieces();
        const std::int64_t came = helpers - seats_.exchange(0, std::memory_order_acquire);
        wait_until(gone_, [&](std::int64_t gone) { return gone == came; });
        if (job_.error != nullptr) {
            std::rethrow_exception(job_.error);
        }
    }

  private:
    struct Job {
        void (*call)(void*, std::int64_t) = nullptr;
        void* context = nullptr;
        std::int64_t count = 0;
        std::atomic<std::int64_t> next{0};
        std::exception_ptr error;
        std::mutex error_lock;
    };

    static constexpr std::chrono::microseconds kWatch{200};  // about what waking a thread takes
    static constexpr int kLooks = 64;                        // between two looks at the clock

    static std::atomic<Team*>& current_team() {
        static std::atomic<Team*> current{new Team};
#ifdef HINGE_HAS_FORK
        static const int registered = pthread_atfork(
            nullptr, nullptr, [] { current_team().store(new Team, std::memory_order_release); });
        static_cast<void>(registered);
#endif
        return current;
    }

    // Makes threads until there are as many as are wanted; returns how many there are for a call.
    std::int64_t ready(std::int64_t wanted) {
        while (made_ < wanted) {
            if (!make_one()) {
                break;  // the system has no more: fewer will do
            }
            ++made_;
        }
        return std::min(made_, wanted);
    }

    bool make_one() {
#ifdef HINGE_HAS_FORK
        sigset_t all;
        sigset_t before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
#endif
        bool is_made = true;
        try {
            std::thread([this] { serve(); }).detach();
        } catch (const std::system_error&) {
            is_made = false;
        }
#ifdef HINGE_HAS_FORK
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
#endif
        return is_made;
    }

    // What a thread of the team does for ever.
    [[noreturn]] void serve() {
        for (;;) {
            // Looked at before the seats: a call that comes in between is seen by its number.
            const std::uint32_t seen = calls_.load(std::memory_order_acquire);
            if (take_seat()) {
                do_pieces();
                gone_.fetch_add(1, std::memory_order_release);
                gone_.notify_one();
            } else {
                wait_until(calls_, [&](std::uint32_t calls) { return calls != seen; });
            }
        }
    }

    bool take_seat() {
        std::int64_t free = seats_.load(std::memory_order_acquire);
        while (free > 0) {
            if (seats_.compare_exchange_weak(free, free - 1, std::memory_order_acq_rel)) {
                return true;
            }
        }
        return false;
    }

    void do_pieces() {
        for (;;) {
            const std::int64_t number = job_.next.fetch_add(1, std::memory_order_relaxed);
            if (number >= job_.count) {
                return;
            }
            try {
                job_.call(job_.context, number);
            } catch (...) {
                const std::lock_guard<std::mutex> locked(job_.error_lock);
                job_.error = std::current_exception();
                job_.next.store(job_.count, std::memory_order_relaxed);
            }
        }
    }

    // Watches a number for a while, and sleeps until it changes after that.
    template <class Number, class Condition>
    static void wait_until(std::atomic<Number>& number, Condition&& holds) {
        const auto end = std::chrono::steady_clock::now() + kWatch;
        do {
            for (int look = 0; look < kLooks; ++look) {
                if (holds(number.load(std::memory_order_acquire))) {
                    return;
                }
                pause();
            }
        } while (std::chrono::steady_clock::now() < end);
        for (Number now = number.load(std::memory_order_acquire); !holds(now);
             now = number.load(std::memory_order_acquire)) {
            number.wait(now, std::memory_order_acquire);
        }
    }

    static void pause() noexcept {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }

    std::mutex in_use_;
    std::int64_t made_ = 0;  // threads; only whoever uses the team changes it
    Job job_;
    alignas(64) std::atomic<std::int64_t> seats_{0};  // threads that may still take part
    alignas(64) std::atomic<std::int64_t> gone_{0};   // threads that took part and are done
    alignas(64) std::atomic<std::uint32_t> calls_{0};
};

inline constexpr std::int64_t kTurns = 8;  // pieces for each thread, so that all end together

// Calls work(first, size) for pieces of the numbers below `count`, each of a whole multiple of
// `grain` but the last.
template <class Work>
void share_out(std::int64_t count, std::int64_t threads, std::int64_t grain, Work&& work) {
    if (threads <= 1 || count <= grain) {
        if (count > 0) {
            work(std::int64_t{0}, count);
        }
        return;
    }
    const std::int64_t share = (count + kTurns * threads - 1) / (kTurns * threads);
    const std::int64_t size = (share + grain - 1) / grain * grain;
    Team::of_process().run((count + size - 1) / size, threads, [&](std::int64_t number) {
        work(number * size, std::min(size, count - number * size));
    });
}

}  // namespace hinge

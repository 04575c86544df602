// Threads that share out pieces of one native call; the calling thread is one of them.
//
// The work of a call is cut into numbered pieces, and whoever is free takes the next one. What a
// piece does must not depend on who does it. Calls that are made beside each other have teams of
// their own, as far as there are any; one that finds none, or is made from inside a piece, does all
// of its pieces itself: nobody ever waits for a turn.
//
// Threads are made when they are first wanted and stay. One that has just done something watches
// for more for a while, since passes follow each other within a fraction of a millisecond and to
// wake a thread takes a good part of one; then it sleeps. Signals are left to the other threads of
// the process, and a child of fork, which has none of these threads, begins with teams of its own.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <type_traits>

#if __has_include(<pthread.h>)
#include <pthread.h>
#include <signal.h>
#endif

namespace hinge {

// Keeps signals from threads that are made while it lives, but for those that tell of a fault of
// the thread itself.
class SignalsBlocked {
  public:
#if __has_include(<pthread.h>)
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) {
            sigdelset(&all, fault);
        }
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

  private:
    sigset_t before_;
#endif
};

class Team {
  public:
    // Calls work(number) once for every number below `count`, on at most `threads` threads. An
    // exception of a piece is thrown again here, when all that had begun has ended; what had not is
    // left undone.
    template <class Work>
    static void run(std::int64_t count, std::int64_t threads, Work&& work) {
        const std::int64_t helpers = std::min({threads, count, most_threads()}) - 1;
        Team* const team = helpers > 0 && !is_inside() ? free_team() : nullptr;
        if (team == nullptr) {
            for (std::int64_t number = 0; number < count; ++number) {
                work(number);
            }
            return;
        }
        team->lead(count, helpers, work);
    }

    // Makes what calls need before the first of them, which might come beside a fork.
    static void prepare() { teams(); }

  private:
    struct Job {
        void (*call)(void*, std::int64_t) = nullptr;
        void* context = nullptr;
        std::int64_t count = 0;
        std::atomic<std::int64_t> next{0};
        std::exception_ptr error;
        std::mutex error_lock;
    };

    static constexpr std::size_t kTeams = 8;
    static constexpr std::int64_t kFewCores = 8;
    static constexpr std::chrono::microseconds kWatch{200};  // about what waking a thread takes
    static constexpr int kLooks = 64;                        // between two looks at the clock

    using Teams = std::array<Team, kTeams>;

    // Those of this process. They are never destroyed: their threads sleep until it ends.
    static std::atomic<Teams*>& teams() {
        static std::atomic<Teams*> current{new Teams};
#if __has_include(<pthread.h>)
        static const int registered = pthread_atfork(
            nullptr, nullptr, [] { teams().store(new Teams, std::memory_order_release); });
        static_cast<void>(registered);
#endif
        return current;
    }

    // A team that nobody uses, which is then in use; null if there is none.
    static Team* free_team() {
        for (Team& team : *teams().load(std::memory_order_acquire)) {
            if (!team.in_use_.test_and_set(std::memory_order_acquire)) {
                return &team;
            }
        }
        return nullptr;
    }

    // More threads than cores only hinder each other.
    static std::int64_t most_threads() {
        static const auto cores = static_cast<std::int64_t>(std::thread::hardware_concurrency());
        return std::max(cores, kFewCores);
    }

    // Whether this thread is doing a piece.
    static bool& is_inside() {
        thread_local bool inside = false;
        return inside;
    }

    template <class Work>
    void lead(std::int64_t count, std::int64_t wanted, Work& work) {
        const std::int64_t helpers = ready(wanted);
        job_.call = [](void* context, std::int64_t number) {
            (*static_cast<std::remove_reference_t<Work>*>(context))(number);
        };
        job_.context = const_cast<void*>(static_cast<const void*>(&work));
        job_.count = count;
        job_.next.store(0, std::memory_order_relaxed);
        job_.error = nullptr;
        gone_.store(0, std::memory_order_relaxed);
        seats_.store(helpers, std::memory_order_release);
        calls_.fetch_add(1);
        // One that stops watching meanwhile sees that there has been a call, and does not sleep.
        for (std::int64_t asleep = helpers - watching_.load(); asleep > 0; --asleep) {
            calls_.notify_one();
        }
        do_pieces();
        const std::int64_t came = helpers - seats_.exchange(0, std::memory_order_acquire);
        const auto all_gone = [&](std::int64_t gone) { return gone == came; };
        if (!watch(gone_, all_gone)) {
            sleep(gone_, all_gone);
        }
        const std::exception_ptr error = job_.error;
        job_.error = nullptr;
        in_use_.clear(std::memory_order_release);
        if (error != nullptr) {
            std::rethrow_exception(error);
        }
    }

    // Makes threads until there are as many as are wanted; returns how many there are for a call.
    std::int64_t ready(std::int64_t wanted) {
        while (made_ < wanted && make_one()) {
            ++made_;
        }
        return std::min(made_, wanted);
    }

    // Returns whether the system had another thread: fewer will do.
    bool make_one() noexcept {
        const SignalsBlocked blocked;
        try {
            std::thread([this] { serve(); }).detach();
        } catch (const std::exception&) {
            return false;
        }
        return true;
    }

    // What a thread of the team does for ever.
    [[noreturn]] void serve() {
        for (;;) {
            // Looked at before the seats: a call that comes in between is seen by its number.
            std::uint32_t seen = calls_.load();
            const auto is_new = [&](std::uint32_t calls) { return calls != seen; };
            bool is_wanted = take_seat();
            while (is_wanted) {
                do_pieces();
                gone_.fetch_add(1, std::memory_order_release);
                gone_.notify_one();
                watching_.fetch_add(1);
                seen = calls_.load();
                is_wanted = take_seat() || (watch(calls_, is_new) && take_seat());
                watching_.fetch_sub(1);
            }
            sleep(calls_, is_new);
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
        is_inside() = true;
        for (;;) {
            const std::int64_t number = job_.next.fetch_add(1, std::memory_order_relaxed);
            if (number >= job_.count) {
                break;
            }
            try {
                job_.call(job_.context, number);
            } catch (...) {
                const std::lock_guard<std::mutex> locked(job_.error_lock);
                job_.error = std::current_exception();
                job_.next.store(job_.count, std::memory_order_relaxed);
            }
        }
        is_inside() = false;
    }

    // Looks at a number for a while; returns whether it has become what is waited for.
    template <class Number, class Condition>
    static bool watch(const std::atomic<Number>& number, Condition&& holds) {
        const auto end = std::chrono::steady_clock::now() + kWatch;
        do {
            for (int look = 0; look < kLooks; ++look) {
                if (holds(number.load(std::memory_order_acquire))) {
                    return true;
                }
                pause();
            }
        } while (std::chrono::steady_clock::now() < end);
        return false;
    }

    // Sleeps until the number has become what is waited for.
    template <class Number, class Condition>
    static void sleep(const std::atomic<Number>& number, Condition&& holds) {
        for (Number now = number.load(); !holds(now); now = number.load()) {
            number.wait(now);
        }
    }

    static void pause() noexcept {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        asm volatile("yield");
#endif
    }

    std::atomic_flag in_use_;
    std::int64_t made_ = 0;  // threads; only whoever uses the team changes it
    Job job_;
    alignas(64) std::atomic<std::int64_t> seats_{0};     // threads that may still take part
    alignas(64) std::atomic<std::int64_t> gone_{0};      // threads that took part and are done
    alignas(64) std::atomic<std::uint32_t> calls_{0};    // how many there have been
    alignas(64) std::atomic<std::int64_t> watching_{0};  // threads that need not be woken
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
    const std::int64_t pieces = kTurns * std::min(threads, count);
    const std::int64_t share = (count + pieces - 1) / pieces;
    const std::int64_t size = (share + grain - 1) / grain * grain;
    Team::run((count + size - 1) / size, threads, [&](std::int64_t number) {
        work(number * size, std::min(size, count - number * size));
    });
}

}  // namespace hinge

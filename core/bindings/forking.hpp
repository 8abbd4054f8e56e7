#pragma once
#include <atomic>
#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "bindings/common.hpp"
#include "error.hpp"

// Locks that survive a fork.
//
// A child has only the thread that forked. A lock that another thread held stays locked in it for
// ever, and what that thread was changing stays half changed. So a fork waits until no thread is
// inside a model or holds a `Lock`, and threads that come meanwhile wait for the fork. Python calls
// the hooks (os.register_at_fork, since pthread_atfork could not let go of the interpreter's lock,
// which others need to finish). After a minute a fork goes on with a warning, later ones after a
// second; the child refuses the model that was in use, and no other.

namespace yarrow {

/// Whether the caller holds the interpreter's lock.
enum class Interpreter { held, released };

/// Counts the threads that are inside models and locks. A thread is counted once, however many of
/// them it is in: what it enters while it is inside must not wait, or a fork would wait for it.
class AtWork {
 public:
  static void begin(Interpreter interpreter) {
    if (depth_++ > 0) return;
    threads_.fetch_add(1);  // before it looks: either it sees the fork, or the fork sees it
    if (is_forking_.load()) [[unlikely]]
      wait(interpreter);
  }
  static void end() {
    if (--depth_ == 0) threads_.fetch_sub(1);
  }
  /// In a child whose parent could not wait: some lock may stay locked.
  static bool has_lost_threads() { return has_lost_threads_; }

  static void before_fork();
  static void after_fork_in_parent();
  static void after_fork_in_child();

 private:
  static void wait(Interpreter interpreter);

  static inline constinit thread_local int depth_ [[gnu::tls_model("initial-exec")]] = 0;
  static inline std::atomic<int> threads_ = 0;
  static inline std::atomic<bool> is_forking_ = false;
  static inline bool is_too_long_ = false, has_lost_threads_ = false;
  static inline std::mutex fork_;  ///< held during a fork
};

/// Waits for a lock, without the interpreter's, which its owner may need.
template <class Lock>
void wait_for(Lock& lock, Interpreter interpreter) {
  if (interpreter == Interpreter::held) {
    nb::gil_scoped_release release;
    return wait_for(lock, Interpreter::released);
  }
  if (!AtWork::has_lost_threads()) return lock.lock();
  for (int tenths = 0; !lock.try_lock(); ++tenths) {
    if (tenths == 50)
      throw Error(
          "Another thread was changing this model when the process was forked, and this child has "
          "only half of the change: fork while nobody learns, or load the model from a file.");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

/// A model's lock, as long as this lives.
template <class Lock>
class Held {
 public:
  explicit Held(typename Lock::mutex_type& mutex, Interpreter interpreter = Interpreter::held)
      : counted_(interpreter), lock_(mutex, std::try_to_lock) {
    if (!lock_) wait_for(lock_, interpreter);
  }

 private:
  struct Counted {
    explicit Counted(Interpreter interpreter) { AtWork::begin(interpreter); }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    ~Counted() { AtWork::end(); }
  };
  Counted counted_;
  Lock lock_;
};

using Changing = Held<std::unique_lock<std::shared_mutex>>;
using Reading = Held<std::shared_lock<std::shared_mutex>>;

void bind_locks(nb::module_& m);

}  // namespace yarrow

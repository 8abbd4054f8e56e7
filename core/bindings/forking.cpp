#include "bindings/forking.hpp"

namespace yarrow {

/// A call that takes longer does not hold up a fork; what it changes is refused in the child.
static constexpr std::chrono::seconds longest_wait{60};
/// After a wait in vain, as pools of processes fork many times: enough for all calls but that one.
static constexpr std::chrono::seconds next_wait{1};
static bool has_waited_in_vain = false;

void AtWork::wait(Interpreter interpreter) {
  if (interpreter == Interpreter::held) {
    nb::gil_scoped_release release;
    return wait(Interpreter::released);
  }
  while (is_forking_.load()) {
    threads_.fetch_sub(1);
    {
      const std::lock_guard until_it_is_over(fork_);
    }
    threads_.fetch_add(1);
  }
}

void AtWork::before_fork() {
  if (depth_ > 0) {  // from inside a call, for which others may wait: nobody can be waited for
    is_too_long_ = threads_.load() > 1;
    return;
  }
  {
    nb::gil_scoped_release release;
    fork_.lock();
    is_forking_ = true;
    const auto longest = has_waited_in_vain ? next_wait : longest_wait;
    const auto end = std::chrono::steady_clock::now() + longest;
    auto pause = std::chrono::microseconds(10);
    while ((is_too_long_ = threads_.load() > 0) && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, std::chrono::microseconds(2000));
    }
    has_waited_in_vain = is_too_long_;
  }
  if (is_too_long_ && PyErr_WarnEx(PyExc_RuntimeWarning,
                                   "A thread has used a model for a minute while another one waits "
                                   "to fork: the child cannot use that model.",
                                   1) < 0)
    throw nb::python_error();
}

void AtWork::after_fork_in_parent() {
  if (depth_ > 0) return;
  is_forking_ = false;
  fork_.unlock();
}

void AtWork::after_fork_in_child() {
  has_lost_threads_ |= is_too_long_;
  has_waited_in_vain = false;
  threads_ = depth_ > 0;  // others are gone, and with them those that were about to wait
  is_forking_ = false;
  new (&fork_) std::mutex;
}

/// What Python's estimators hold while they learn or are asked. A thread may enter it again.
/// (The library's own recursive lock is nobody's after a fork: it knows its owner by a number that
/// the child's thread does not have.)
class PythonLock {
 public:
  void enter() {
    AtWork::begin(Interpreter::held);
    if (owner_.load() == std::this_thread::get_id()) {
      ++depth_;
      return;
    }
    std::unique_lock lock(mutex_, std::try_to_lock);
    try {
      if (!lock) wait_for(lock, Interpreter::held);
    } catch (...) {
      AtWork::end();
      throw;
    }
    lock.release();
    owner_ = std::this_thread::get_id();
    depth_ = 1;
  }
  void exit() {
    if (--depth_ == 0) {
      owner_ = std::thread::id();
      mutex_.unlock();
    }
    AtWork::end();
  }

 private:
  std::mutex mutex_;
  std::atomic<std::thread::id> owner_;
  int depth_ = 0;
};

void bind_locks(nb::module_& m) {
  nb::class_<PythonLock>(m, "Lock", "A reentrant lock that a fork waits for.")
      .def(nb::init<>())
      .def("__enter__", &PythonLock::enter)
      .def(
          "__exit__", [](PythonLock& self, nb::handle, nb::handle, nb::handle) { self.exit(); },
          nb::arg("kind").none(), nb::arg("error").none(), nb::arg("trace").none());
  nb::module_::import_("os").attr("register_at_fork")(
      nb::arg("before") = nb::cpp_function(&AtWork::before_fork),
      nb::arg("after_in_parent") = nb::cpp_function(&AtWork::after_fork_in_parent),
      nb::arg("after_in_child") = nb::cpp_function(&AtWork::after_fork_in_child));
}

}  // namespace yarrow

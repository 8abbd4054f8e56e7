#pragma once
#include <algorithm>
#include <cstdint>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace yarrow {

/// Calls work(begin, end) for `jobs` parts of 0..n-1 that stand behind each other, each on a thread
/// of its own, the last one on the caller's. If several fail, the first part's error is thrown.
template <class Work>
void share(std::int64_t n, std::int64_t jobs, Work work) {
  jobs = std::clamp<std::int64_t>(jobs, 1, std::max<std::int64_t>(1, n));
  if (jobs == 1) return work(std::int64_t{0}, n);
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(jobs));
  const auto part = [&](std::int64_t k) {
    try {
      work(n * k / jobs, n * (k + 1) / jobs);
    } catch (...) {
      errors[static_cast<std::size_t>(k)] = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(jobs));
  std::int64_t started = 0;
  try {
    for (; started + 1 < jobs; ++started) threads.emplace_back(part, started);
  } catch (const std::system_error&) {  // no more threads: the caller does the rest
  }
  for (std::int64_t k = started; k < jobs; ++k) part(k);
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace yarrow

#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "lines.hpp"
#include "parse.hpp"
#include "row.hpp"
#include "source.hpp"

namespace yarrow {

// Memory is at most 2 * threads + 2 blocks with their rows, about 3 * block_bytes each
// (interactions multiply that: take smaller blocks there), unless single lines are longer.
struct ReaderOptions {
  int threads = 1;                                   // all in all: 1 starts none
  std::size_t block_bytes = std::size_t{256} << 10;  // small enough for a core's own cache
  std::size_t longest_line = std::size_t{1} << 30;   // in bytes; anything longer is an error
};

// Reads a stream of rows in blocks, in order, in bounded memory, parsed by several threads.
//
// The thread that calls next() reads the source and hands out blocks; workers parse the blocks
// that have been read, and so does the calling thread when the block it needs is not ready, so
// that no core is idle while there is something to parse. Nobody but the calling thread touches
// the source, and workers wait for nothing but work: a source may take locks of its own (such as
// an interpreter's) as long as the caller does not hold them in next().
template <class W>
class BlockReader {
 public:
  BlockReader(std::unique_ptr<ByteSource> source, std::shared_ptr<TextParser<W>> parser,
              const ReaderOptions& options = {})
      : options_(options),
        lines_(std::move(source), options.block_bytes, options.longest_line),
        parser_(std::move(parser)) {
    if (options.threads < 1) throw Error("The number of threads must be at least 1.");
    if (options.block_bytes < 1) throw Error("The size of a block must be at least 1 byte.");
    slots_.resize(options.threads == 1 ? 1 : 2 * static_cast<std::size_t>(options.threads) + 2);
  }

  BlockReader(const BlockReader&) = delete;
  BlockReader& operator=(const BlockReader&) = delete;

  ~BlockReader() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    work_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  // The next block that has rows, or nullptr at the end. It may be changed, and lives until the
  // next call. Throws what is wrong with the stream, a broken line as ParseError, after the rows
  // before it have been handed out.
  RowBlock<W>* next() {
    for (;;) {
      if (failure_) std::rethrow_exception(failure_);
      if (std::exchange(holding_, false)) ++taken_;
      read_ahead();
      if (taken_ == filled_) {
        if (!source_failure_) return nullptr;
        fail(source_failure_);
        continue;
      }
      Slot& slot = wait_for_next();
      holding_ = true;
      count(slot);
      if (slot.block.rows() > 0) return &slot.block;
    }
  }

  // What has been seen in the blocks handed out so far.
  std::size_t lines() const { return line_count_; }
  std::size_t skipped() const { return skipped_; }
  const std::vector<ParseError>& mistakes() const { return mistakes_; }  // the first few skipped

 private:
  static constexpr std::size_t kMostMistakes = 5;

  struct Slot {
    RowBlock<W> block;
    bool parsed = false;
    std::exception_ptr failure;  // of the parser itself, such as a lack of memory
  };

  // Blocks are numbered as they are read; they take the slots in turn.
  Slot& slot(std::size_t number) { return slots_[number % slots_.size()]; }

  // Fills the free slots, but waits for the source only if there is nothing else to hand out.
  void read_ahead() {
    while (!source_failure_ && !lines_.ended() && filled_ - taken_ < slots_.size()) {
      Slot& free = slot(filled_);
      if (!fill(free.block, filled_ == taken_)) return;
      {
        const std::lock_guard lock(mutex_);
        free.parsed = false;
        ++filled_;
        const bool enough = workers_.size() + 1 >= static_cast<std::size_t>(options_.threads);
        if (filled_ - claimed_ > 1 && !enough) workers_.emplace_back([this] { work(); });
      }
      work_.notify_one();
    }
  }

  bool fill(RowBlock<W>& block, bool wait) {
    try {
      const std::size_t window = std::exchange(started_, true) ? 0 : parser_->window();
      if (window > 0) parser_->see_start(lines_.peek(window));
      if (block.text.capacity() > options_.block_bytes) block = {};  // after a very long line
      return lines_.fill(block.text, wait);
    } catch (...) {
      source_failure_ = std::current_exception();
      return false;
    }
  }

  // The oldest block, parsed; helps with parsing until it is.
  Slot& wait_for_next() {
    Slot& next = slot(taken_);
    std::unique_lock lock(mutex_);
    while (!next.parsed && claimed_ < filled_) parse_one(lock);
    parsed_.wait(lock, [&] { return next.parsed; });
    return next;
  }

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      work_.wait(lock, [&] { return stopping_ || claimed_ < filled_; });
      if (stopping_) return;
      parse_one(lock);
    }
  }

  // Parses the oldest block that nobody parses yet; the lock is free meanwhile.
  void parse_one(std::unique_lock<std::mutex>& lock) {
    Slot& mine = slot(claimed_++);
    lock.unlock();
    try {
      parser_->parse(mine.block);
    } catch (...) {
      mine.failure = std::current_exception();
      mine.block = {};
    }
    lock.lock();
    mine.parsed = true;
    parsed_.notify_one();
  }

  // Numbers the lines of a block in the stream, and keeps what is wrong with them.
  void count(Slot& slot) {
    RowBlock<W>& block = slot.block;
    block.first_line = line_count_ + 1;
    skipped_ += block.skipped;
    for (const ParseError& mistake : block.mistakes)
      if (mistakes_.size() < kMostMistakes) mistakes_.push_back(mistake.after(line_count_));
    if (slot.failure) fail(slot.failure);
    if (block.failure) fail(std::make_exception_ptr(*block.failure));
    line_count_ += block.lines;
  }

  // Makes next() throw. Lines in a ParseError still count from the end of the blocks before.
  void fail(const std::exception_ptr& failure) {
    try {
      std::rethrow_exception(failure);
    } catch (const ParseError& error) {
      failure_ = std::make_exception_ptr(error.after(line_count_));
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  const ReaderOptions options_;
  LineCutter lines_;
  const std::shared_ptr<TextParser<W>> parser_;
  std::vector<std::thread> workers_;

  // The calling thread's own.
  std::size_t taken_ = 0;  // blocks handed out and given back
  bool holding_ = false;   // whether the caller has one more in its hands
  bool started_ = false;
  std::exception_ptr source_failure_;  // to be thrown when all blocks are handed out
  std::exception_ptr failure_;         // to be thrown now
  std::size_t line_count_ = 0, skipped_ = 0;
  std::vector<ParseError> mistakes_;

  // Shared with the workers. Between filled and parsed, a slot's content belongs to its parser;
  // before and after, to the calling thread.
  std::mutex mutex_;
  std::condition_variable work_, parsed_;
  std::vector<Slot> slots_;
  std::size_t filled_ = 0;   // blocks read; changed by the calling thread alone
  std::size_t claimed_ = 0;  // blocks that somebody parses or has parsed
  bool stopping_ = false;
};

}  // namespace yarrow

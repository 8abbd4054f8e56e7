#pragma once

#include <unistd.h>

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "input/lines.hpp"
#include "input/parse.hpp"

namespace yarrow {

// Memory is at most 2 * threads + 2 blocks with their rows, about 3 * block_bytes each
// (interactions multiply that: take smaller blocks there), unless single lines are longer, and for
// each thread a table of names (NameTable), some 10 MB.
struct ReaderOptions {
  int threads = 1;                                   // all in all: 1 starts none
  std::size_t block_bytes = std::size_t{256} << 10;  // small enough for a core's own cache
  std::size_t longest_line = std::size_t{1} << 26;   // in bytes; anything longer is an error
};

// Reads a stream of rows in blocks, in order, in bounded memory, parsed by several threads.
//
// The thread that calls next() reads the source and hands out blocks; workers parse the blocks
// that have been read, and so does the calling thread when the block it needs is not ready, so
// that no core is idle while there is something to parse. Nobody but the calling thread touches
// the source, and workers wait for nothing but work: a source may take locks of its own (such as
// an interpreter's) as long as the caller does not hold them in next().
//
// A process that is forked has no workers, and would share the source with its parent: there a
// reader can only be thrown away.
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
    shared_->slots.resize(options.threads == 1 ? 1
                                               : 2 * static_cast<std::size_t>(options.threads) + 2);
  }

  BlockReader(const BlockReader&) = delete;
  BlockReader& operator=(const BlockReader&) = delete;

  ~BlockReader() {
    if (is_forked()) {
      shared_.release();  // taking it down would wait for threads that are not there
      return;
    }
    {
      const std::lock_guard lock(shared_->mutex);
      shared_->stopping = true;
    }
    shared_->work.notify_all();
    for (std::thread& worker : shared_->workers) worker.join();
  }

  // The next block that has rows, or nullptr at the end. It may be changed, and lives until the
  // next call. Throws what is wrong with the stream, a broken line as ParseError, after the rows
  // before it have been handed out.
  RowBlock<W>* next() {
    if (is_forked())
      throw Error(
          "This process was forked while the stream was open, and cannot read it: open it anew.");
    for (;;) {
      if (failure_) std::rethrow_exception(failure_);
      if (std::exchange(holding_, false)) ahead_ -= slot(taken_++).block.text.size;
      read_ahead();
      if (taken_ == shared_->filled) {
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
  const std::vector<ParseError>& complaints() const {
    return complaints_;
  }  // the first few skipped

 private:
  struct Slot {
    RowBlock<W> block;
    bool parsed = false;
    std::exception_ptr failure;  // of the parser itself, such as a lack of memory
  };

  // What the calling thread shares with the workers. Between filled and parsed, a slot's content
  // belongs to its parser; before and after, to the calling thread.
  struct Shared {
    std::mutex mutex;
    std::condition_variable work, parsed;
    std::vector<Slot> slots;
    std::size_t filled = 0;   // blocks read; changed by the calling thread alone
    std::size_t claimed = 0;  // blocks that somebody parses or has parsed
    bool stopping = false;
    std::vector<std::thread> workers;
    std::vector<std::unique_ptr<ParserMemory>> idle;  // memory that no thread uses
  };

  bool is_forked() const { return getpid() != process_; }

  // Blocks are numbered as they are read; they take the slots in turn.
  Slot& slot(std::size_t number) { return shared_->slots[number % shared_->slots.size()]; }

  // Fills the free slots, but waits for the source only if there is nothing else to hand out.
  void read_ahead() {
    while (!source_failure_ && !lines_.ended() &&
           shared_->filled - taken_ < shared_->slots.size() &&
           ahead_ < shared_->slots.size() * options_.block_bytes) {
      Slot& free = slot(shared_->filled);
      if (!fill(free.block, shared_->filled == taken_)) return;
      ahead_ += free.block.text.size;
      {
        const std::lock_guard lock(shared_->mutex);
        free.parsed = false;
        ++shared_->filled;
        const bool enough =
            shared_->workers.size() + 1 >= static_cast<std::size_t>(options_.threads);
        if (shared_->filled - shared_->claimed > 1 && !enough)
          shared_->workers.emplace_back([this] { work(); });
      }
      shared_->work.notify_one();
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
    std::unique_lock lock(shared_->mutex);
    while (!next.parsed && shared_->claimed < shared_->filled) parse_one(lock);
    shared_->parsed.wait(lock, [&] { return next.parsed; });
    return next;
  }

  void work() {
    std::unique_lock lock(shared_->mutex);
    for (;;) {
      shared_->work.wait(lock,
                         [&] { return shared_->stopping || shared_->claimed < shared_->filled; });
      if (shared_->stopping) return;
      parse_one(lock);
    }
  }

  // Parses the oldest block that nobody parses yet; the lock is free meanwhile.
  void parse_one(std::unique_lock<std::mutex>& lock) {
    Slot& mine = slot(shared_->claimed++);
    std::unique_ptr<ParserMemory> memory;
    if (!shared_->idle.empty()) {
      memory = std::move(shared_->idle.back());
      shared_->idle.pop_back();
    }
    lock.unlock();
    try {
      if (!memory) memory = std::make_unique<ParserMemory>();
      parser_->parse(mine.block, *memory);
    } catch (...) {
      mine.failure = std::current_exception();
      mine.block.clear();
    }
    lock.lock();
    if (memory) shared_->idle.push_back(std::move(memory));
    mine.parsed = true;
    shared_->parsed.notify_one();
  }

  // Numbers the lines of a block in the stream, and keeps what is wrong with them.
  void count(Slot& slot) {
    RowBlock<W>& block = slot.block;
    block.first_line = line_count_ + 1;
    skipped_ += block.skipped;
    for (const ParseError& complaint : block.complaints)
      if (complaints_.size() < most_complaints) complaints_.push_back(complaint.after(line_count_));
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
  const pid_t process_ = getpid();
  std::unique_ptr<Shared> shared_ = std::make_unique<Shared>();

  // The calling thread's own.
  std::size_t taken_ = 0;  // blocks handed out and given back
  bool holding_ = false;   // whether the caller has one more in its hands
  std::size_t ahead_ = 0;  // bytes of text in the blocks that are not given back
  bool started_ = false;
  std::exception_ptr source_failure_;  // to be thrown when all blocks are handed out
  std::exception_ptr failure_;         // to be thrown now
  std::size_t line_count_ = 0, skipped_ = 0;
  std::vector<ParseError> complaints_;
};

}  // namespace yarrow

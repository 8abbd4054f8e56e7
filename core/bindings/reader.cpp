#include "input/reader.hpp"

#include <nanobind/stl/pair.h>

#include <chrono>

#include "bindings/python_model.hpp"
#include "input/packed_row.hpp"
#include "input/parse_json.hpp"
#include "input/parse_svmlight.hpp"
#include "input/parse_vw.hpp"
#include "stream.hpp"

namespace yarrow {

/// A text stream as Python holds it.
template <class W>
struct PythonReader {
  std::shared_ptr<SvmlightParser<W>> svmlight;  ///< null for other formats
  std::unique_ptr<BlockReader<W>> blocks;
  nb::object source;    ///< kept alive
  NameNumbers numbers;  ///< of a model that predicts its rows
  std::size_t bytes = 0;
};

/// Reads from a Python file object, which needs the interpreter's lock.
static CallbackSource::Read read_from(nb::handle file, std::size_t& bytes) {
  return [file, &bytes](char* place, std::size_t size) {
    nb::gil_scoped_acquire hold;
    const nb::object view =
        nb::steal(PyMemoryView_FromMemory(place, static_cast<Py_ssize_t>(size), PyBUF_WRITE));
    const auto count = nb::cast<std::size_t>(file.attr("readinto")(view));
    bytes += count;
    return count;
  };
}

/// Where the next byte of some texts is.
struct TextPlace {
  std::size_t text = 0;
  std::size_t byte = 0;  ///< the line feed after it counts as its last one
};

/// Copies texts, each with a line feed after it, until `out` is full; how many bytes it was, and
/// `place` moves on. Text i stands at `bytes` from `ends[i]` to `ends[i + 1]`.
static std::size_t copy_lines(const std::int64_t* ends, std::size_t count,
                              const std::uint8_t* bytes, TextPlace& place, std::uint8_t* out,
                              std::size_t room) {
  const std::uint8_t* const begin = out;
  for (; place.text < count && room > 0; ++place.text, place.byte = 0) {
    const auto size = static_cast<std::size_t>(ends[place.text + 1] - ends[place.text]);
    const std::size_t copied = std::min(size - std::min(size, place.byte), room);
    if (copied > 0) std::memcpy(out, bytes + ends[place.text] + place.byte, copied);
    out += copied;
    room -= copied;
    place.byte += copied;
    if (room == 0) break;
    *out++ = '\n';
    --room;
  }
  return static_cast<std::size_t>(out - begin);
}

/// Reads a plain file without the interpreter's lock, and counts.
class CountingSource : public FileSource {
 public:
  CountingSource(int file, std::size_t& bytes)
      : FileSource(file,
                   [] {
                     nb::gil_scoped_acquire hold;
                     if (PyErr_CheckSignals() != 0) throw nb::python_error();
                   }),
        bytes_(bytes) {}
  std::size_t read(char* place, std::size_t size) override {
    const std::size_t count = FileSource::read(place, size);
    bytes_ += count;
    return count;
  }

 private:
  std::size_t& bytes_;
};

template <class W>
static void make_reader(PythonReader<W>* self, nb::object file, const std::string& format,
                        int threads, int index_base, std::int64_t max_index, bool labels_optional,
                        bool skip_errors, int hash_bits,
                        const std::vector<Interaction>& interactions, std::size_t block_bytes,
                        std::size_t longest_line) {
  new (self) PythonReader<W>;
  self->source = file;
  const TextOptions options{skip_errors, hash_bits, labels_optional,
                            index_base,  max_index, interactions};
  std::shared_ptr<TextParser<W>> parser;
  if (format == "vw")
    parser = std::make_shared<VwParser<W>>(options);
  else if (format == "json")
    parser = std::make_shared<JsonParser<W>>(options);
  else
    parser = self->svmlight = std::make_shared<SvmlightParser<W>>(options);
  std::unique_ptr<ByteSource> source;
  if (PyLong_Check(file.ptr()))
    source = std::make_unique<CountingSource>(nb::cast<int>(file), self->bytes);
  else
    source = std::make_unique<CallbackSource>(read_from(file, self->bytes));
  self->blocks = std::make_unique<BlockReader<W>>(
      std::move(source), std::move(parser), ReaderOptions{threads, block_bytes, longest_line});
}

/// The label of a row: a number, an integer if a float would not keep it, a text, or None.
template <class W>
static nb::object label_of(const RowBlock<W>& block, std::size_t i) {
  if (!block.has_label(i)) return nb::none();
  if (block.has_large_label(i)) {
    const std::string digits(block.label_text[i]);
    PyObject* const integer = PyLong_FromString(digits.c_str(), nullptr, 10);
    if (integer) return nb::steal(integer);
    PyErr_Clear();  // Python makes no integer of thousands of digits: it stays a float
  }
  if (!block.has_text_label(i)) return nb::cast(block.label[i]);
  return to_python(block.label_text[i]);
}

template <class W>
static nb::list labels_of(const RowBlock<W>& block) {
  nb::list labels;
  for (std::size_t i = 0; i < block.rows(); ++i) labels.append(label_of(block, i));
  return labels;
}

/// The next block, or null at the end.
template <class W>
static RowBlock<W>* next_block(PythonReader<W>& self) {
  nb::gil_scoped_release release;
  return self.blocks->next();
}

/// What rows have whatever their features are called.
template <class W>
static nb::dict arrays_of(const RowBlock<W>& block) {
  std::vector<std::int64_t> lines;
  for (std::size_t i = 0; i < block.rows(); ++i)
    lines.push_back(static_cast<std::int64_t>(block.line_number(i)));
  nb::dict out;
  out["begins"] = to_array(std::vector<std::int64_t>(block.begin.begin(), block.begin.end()));
  out["values"] = to_array(std::vector<W>(block.value.begin(), block.value.end()));
  out["weights"] = to_array(std::vector<double>(block.weight));
  out["lines"] = to_array(std::move(lines));
  return out;
}

/// The next block as arrays (indices or names), or None at the end.
template <class W>
static nb::object next_arrays(PythonReader<W>& self) {
  const RowBlock<W>* block = next_block(self);
  if (!block) return nb::none();
  nb::dict out = arrays_of(*block);
  if (block->named()) {
    nb::list names;
    for (std::size_t j = 0; j < block->index.size(); ++j)
      names.append(to_python(block->name(j).view()));
    out["names"] = names;
  } else {
    out["indices"] = to_array(std::vector<Index>(block->index.begin(), block->index.end()));
  }
  nb::list tags;
  for (std::size_t i = 0; i < block->rows(); ++i)
    tags.append(to_python(i < block->tag.size() ? block->tag[i] : std::string_view{}));
  out["labels"] = labels_of(*block);
  out["tags"] = tags;
  return out;
}

/// Names in the order of their appearance, shared by all who read the same streams.
struct SharedNames {
  Vocabulary vocabulary;
  NameNumbers numbers;

  /// The numbers of a block's features, each in the place of its name.
  template <class W>
  void place(const RowBlock<W>& block, std::vector<Index>& places) {
    std::vector<Index>& known =
        numbers.of(block.names, static_cast<std::size_t>(block.name_count), vocabulary);
    for (Index& place : places) {
      Index& number = known[static_cast<std::size_t>(place)];
      if (number < 0) number = vocabulary.find_or_add((*block.names)[place]);
      place = number;
    }
  }

  /// Numbers of svmlight rows are their own places; but beyond so many, so that a single row does
  /// not take room for all numbers below its own, they are names like any other.
  void place(std::vector<Index>& numbers) {
    constexpr Index most = Index{1} << 22;
    Index size = 0;
    for (const Index number : numbers) size = std::max(size, number + 1);
    if (vocabulary.identity() && size <= most) return vocabulary.extend(size);
    std::vector<Name> names;
    for (const Index number : numbers) names.push_back(Name(std::int64_t{number}));
    vocabulary.resolve(names.data(), names.size(), numbers.data());
  }
};

/// The next block with its features numbered, or None at the end: rows that any number of models
/// can learn. `labels` are numbers, NaN where there is none; with a text or an integer beyond 2^53
/// among them a list.
template <class W>
static nb::object next_rows(PythonReader<W>& self, SharedNames& names) {
  const RowBlock<W>* block = next_block(self);
  if (!block) return nb::none();
  std::vector<Index> index(block->index.begin(), block->index.end());
  {
    nb::gil_scoped_release release;
    if (block->named())
      names.place(*block, index);
    else
      names.place(index);
  }
  bool needs_list = false;  // an array of floats would not hold all labels as they are
  for (std::size_t i = 0; i < block->rows(); ++i)
    needs_list |= block->has_text_label(i) || block->has_large_label(i);
  nb::dict out = arrays_of(*block);
  out["indices"] = to_array(std::move(index));
  if (needs_list)
    out["labels"] = labels_of(*block);
  else
    out["labels"] = to_array(std::vector<double>(block->label));
  return out;
}

/// Learns blocks for about `seconds`; true when the stream has ended.
template <class W>
static bool learn_from(PythonModel<W>& self, PythonReader<W>& reader, StreamLearner<W>& learner,
                       Account& account, double seconds) {
  bool is_over = false;
  {
    nb::gil_scoped_release release;
    const auto start = std::chrono::steady_clock::now();
    while (!is_over &&
           std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() <
               seconds) {
      const RowBlock<W>* block = reader.blocks->next();
      is_over = !block;
      if (is_over) break;
      const Changing lock(self.mutex, Interpreter::released);
      learner.learn(*block, account);
    }
  }
  warn_of_divergence(self);
  return is_over;
}

/// Learns rows of a log up to the first that is unusual; the account says how many there were.
template <class W>
static void learn_packed(PythonModel<W>& self, StreamLearner<W>& learner, Account& account,
                         const nb::list& rows) {
  const nb::tuple kept(rows);  // the block borrows their bytes
  std::vector<std::string_view> borrowed;
  borrowed.reserve(kept.size());
  for (nb::handle row : kept) {
    const auto bytes = nb::cast<nb::bytes>(row);
    borrowed.emplace_back(bytes.c_str(), bytes.size());
  }
  nb::gil_scoped_release release;
  RowBlock<W> block;
  block.clear();
  ParserMemory memory;
  memory.names.start(block);
  for (const std::string_view bytes : borrowed)
    if (!PackedRow<W>::add(block, memory, bytes)) break;
  memory.names.finish(block);
  const Changing lock(self.mutex, Interpreter::released);
  learner.learn(block, account);
}

/// Learns rows that Python has read from a table: CSR with names for its columns.
template <class W>
static void learn_named(PythonModel<W>& self, StreamLearner<W>& learner, Account& account,
                        const nb::list& names, const std::vector<std::int64_t>& begins,
                        const std::vector<Index>& indices, const std::vector<double>& values,
                        const nb::list& labels, const std::vector<double>& weights,
                        const std::vector<std::int64_t>& lines) {
  RowBlock<W> block;
  block.begin.assign(begins.begin(), begins.end());
  block.index.assign(indices.begin(), indices.end());
  std::vector<nb::str> written;  // integers, whose texts the block borrows
  const auto list = std::make_shared<NameList>();
  for (nb::handle name : names) list->add(text_of(name));
  block.names = list;
  block.name_count = list->size();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const nb::handle label = labels[i];
    const bool is_text = PyUnicode_Check(label.ptr());
    const double number =
        is_text ? std::numeric_limits<double>::quiet_NaN() : nb::cast<double>(label);
    const bool is_large = std::abs(number) >= last_exact_integer && PyLong_Check(label.ptr());
    if (is_large) written.push_back(nb::str(label));  // see has_large_label
    block.label.push_back(number);
    block.label_text.push_back(is_text    ? text_of(label)
                               : is_large ? text_of(written.back())
                                          : std::string_view("number"));
    block.weight.push_back(weights.empty() ? 1 : weights[i]);
    block.line.push_back(static_cast<std::uint32_t>(lines[i]));
    for (std::int64_t j = begins[i]; j < begins[i + 1]; ++j) {
      const W value = static_cast<W>(values[j]);
      block.has_missing |= std::isnan(value);
      if (std::isinf(value))
        throw Error("line " + std::to_string(lines[i]) + ": the value of '" +
                    std::string(block.name(j).view()) + "' is too large");
      block.value.push_back(value);
    }
  }
  block.first_line = 0;
  {
    nb::gil_scoped_release release;
    const Changing lock(self.mutex, Interpreter::released);
    learner.learn(block, account);
  }
  warn_of_divergence(self);
}

/// What each row's scores speak for: a class, or a value.
template <class W>
static nb::list predictions_of(PythonModel<W>& self, const Buffer<double>& scores,
                               std::size_t width) {
  nb::list chosen;
  if (self.is_regression()) {
    for (const double score : scores) chosen.append(score);
    return chosen;
  }
  const Reading lock(self.mutex);
  std::vector<nb::object> names(width);  // few rows of a block speak for many of the classes
  for (std::size_t at = 0; at < scores.size(); at += width) {
    const auto best = static_cast<std::size_t>(self.answer({&scores[at], width}));
    if (!names[best].is_valid()) names[best] = to_python(self.classes.names()[best]);
    chosen.append(names[best]);
  }
  return chosen;
}

/// Predictions and labels of the next block, and if they are wanted scores and variances, by
/// appearance of the classes; None at the end. Nothing of it needs numpy.
template <class W>
static nb::object predict_from(PythonModel<W>& self, PythonReader<W>& reader, bool wants_scores,
                               bool wants_variances) {
  Buffer<double> scores, variances;
  std::size_t width = 0;
  RowBlock<W>* block;
  {
    nb::gil_scoped_release release;
    block = reader.blocks->next();
    if (block) {
      const Reading lock(self.mutex, Interpreter::released);
      width = self.score_width();
      scores.resize(block->rows() * width);
      if (wants_variances) variances.resize(scores.size());
      NumberedRows<W> rows(self, *block, reader.numbers);
      Scores found;
      double *to = scores.data(), *sure = wants_variances ? variances.data() : nullptr;
      for (std::size_t i = 0; i < block->rows(); ++i)
        self.learner->predict_to(rows.find(i), to, sure, found);
    }
  }
  if (!block) return nb::none();
  const nb::list chosen = predictions_of(self, scores, width);
  const auto table = [&](Buffer<double>& numbers, bool wanted) -> nb::object {
    if (!wanted) return nb::none();
    return to_array<nb::memview>(std::move(numbers), {block->rows(), width});
  };
  return nb::make_tuple(chosen, labels_of(*block), table(scores, wants_scores),
                        table(variances, wants_variances));
}

template <class W>
static void bind_reader(nb::module_& m, const char* reader_name, const char* learner_name) {
  using R = PythonReader<W>;
  nb::class_<R>(m, reader_name, "A stream of svmlight or VW text, parsed in blocks.")
      .def("__init__", &make_reader<W>, nb::arg("file"), nb::arg("format"), nb::kw_only(),
           nb::arg("threads"), nb::arg("index_base"), nb::arg("max_index"),
           nb::arg("labels_optional"), nb::arg("skip_errors"), nb::arg("hash_bits"),
           nb::arg("interactions"), nb::arg("block_bytes"), nb::arg("longest_line"))
      .def("next_arrays", &next_arrays<W>)
      .def("next_rows", &next_rows<W>, nb::arg("names"))
      .def_ro("bytes", &R::bytes)
      .def_prop_ro("lines", [](R& self) { return self.blocks->lines(); })
      .def_prop_ro("skipped", [](R& self) { return self.blocks->skipped(); })
      .def_prop_ro("complaints",
                   [](R& self) {
                     std::vector<std::string> all;
                     for (const ParseError& e : self.blocks->complaints()) all.push_back(e.what());
                     return all;
                   })
      .def_prop_ro("index_base",
                   [](R& self) { return self.svmlight ? self.svmlight->index_base() : 0; });
  nb::class_<StreamLearner<W>>(m, learner_name, "Learns streams into one model.")
      .def(
          "__init__",
          [](StreamLearner<W>* self, PythonModel<W>& model, bool skip_errors, bool keep_results) {
            new (self) StreamLearner<W>(model, {skip_errors, keep_results});
          },
          nb::arg("model"), nb::arg("skip_errors"), nb::arg("keep_results"),
          nb::keep_alive<1, 2>());
}

template <class W>
void bind_streams(nb::class_<PythonModel<W>>& type) {
  type.def("learn_from", &learn_from<W>, nb::arg("reader"), nb::arg("learner"), nb::arg("account"),
           nb::arg("seconds"));
  type.def("learn_packed", &learn_packed<W>, nb::arg("learner"), nb::arg("account"),
           nb::arg("rows"));
  type.def("learn_named", &learn_named<W>, nb::arg("learner"), nb::arg("account"), nb::arg("names"),
           nb::arg("begins"), nb::arg("indices"), nb::arg("values"), nb::arg("labels"),
           nb::arg("weights"), nb::arg("lines"));
  type.def("predict_from", &predict_from<W>, nb::arg("reader"), nb::arg("scores"),
           nb::arg("variances"));
}

template void bind_streams(nb::class_<PythonModel<float>>&);
template void bind_streams(nb::class_<PythonModel<double>>&);

using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig>;

void bind_readers(nb::module_& m) {
  m.attr("MOST_COMPLAINTS") = most_complaints;
  m.def(
      "copy_lines",
      [](const nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig>& ends, const Bytes& bytes,
         std::size_t text, std::size_t byte,
         const nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig>& out) {
        TextPlace place{text, byte};
        const std::size_t copied =
            copy_lines(ends.data(), ends.size() - 1, bytes.data(), place, out.data(), out.size());
        return nb::make_tuple(copied, place.text, place.byte);
      },
      nb::arg("ends"), nb::arg("bytes"), nb::arg("text"), nb::arg("byte"), nb::arg("out"),
      "Texts as lines, from that byte of that text on, as many bytes as there is room for; how "
      "many, and where the next one is.");
  m.attr("LONGEST_LINE") = ReaderOptions{}.longest_line;
  nb::class_<SharedNames>(m, "Names", "Names of features, numbered in the order of appearance.")
      .def(nb::init<>())
      .def("__len__", [](SharedNames& self) { return self.vocabulary.size(); })
      .def(
          "resolve",
          [](SharedNames& self, const nb::list& names) {
            const std::vector<Name> borrowed = borrow_names(names);
            std::vector<Index> places(borrowed.size());
            self.vocabulary.resolve(borrowed.data(), borrowed.size(), places.data());
            return to_array(std::move(places));
          },
          nb::arg("names"), "The numbers of these names, new ones where they are new.")
      .def(
          "since", [](SharedNames& self, Index first) { return to_python(self.vocabulary, first); },
          nb::arg("first"), "All names from this number on.")
      .def_prop_ro(
          "are_numbers", [](SharedNames& self) { return self.vocabulary.identity(); },
          "Whether each name is its own number.");
  nb::class_<Account>(m, "Account", "What has happened to a stream so far.")
      .def(nb::init<>())
      .def_ro("rows", &Account::rows)
      .def_ro("mistakes", &Account::mistakes)
      .def_ro("squared_error", &Account::squared_error)
      .def_ro("features", &Account::features)
      .def_ro("skipped", &Account::skipped)
      .def_ro("returns", &Account::returns)
      .def_ro("complaints", &Account::complaints)
      .def("take_checkpoints",
           [](Account& self) {
             nb::list taken;
             for (const Checkpoint& c : self.checkpoints)
               taken.append(nb::make_tuple(c.rows, c.mistakes, c.squared_error, c.label,
                                           c.prediction, c.features));
             self.checkpoints.clear();
             return taken;
           })
      .def("take_results", [](Account& self) {
        nb::object labels = to_array(std::move(self.labels));
        nb::object predictions = to_array(std::move(self.predictions));
        self.labels = self.predictions = {};
        return nb::make_tuple(labels, predictions);
      });
  bind_reader<float>(m, "TextReaderF32", "StreamLearnerF32");
  bind_reader<double>(m, "TextReaderF64", "StreamLearnerF64");
}

}  // namespace yarrow

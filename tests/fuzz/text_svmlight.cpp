#include "input/parse_svmlight.hpp"

#include "text_reader.hpp"

namespace {

template <class W>
void check(fuzz::Choices& choices) {
  yarrow::TextOptions options;
  options.skip_errors = choices.below(2);
  options.labels_optional = choices.below(2);
  options.hash_bits = static_cast<int>(choices.below(4));
  options.index_base = static_cast<int>(choices.below(3)) - 1;
  if (choices.below(4) == 0) options.max_index = 99;
  const std::size_t block_bytes = 1 + choices.below(255);
  const std::size_t longest_line = choices.below(8) ? std::size_t{1} << 20 : 64;
  fuzz::check_text<W>(choices.text(), std::make_shared<yarrow::SvmlightParser<W>>(options),
                      block_bytes, longest_line);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Choices choices(data, size);
  choices.below(2) ? check<double>(choices) : check<float>(choices);
  return 0;
}

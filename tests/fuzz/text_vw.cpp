#include "input/parse_vw.hpp"

#include "text_reader.hpp"

namespace {

template <class W>
void check(fuzz::Choices& choices) {
  yarrow::TextOptions options;
  options.skip_errors = choices.below(2);
  options.hash_bits = static_cast<int>(choices.below(4));
  const char* const spaces[] = {"a", "b", ":", " ", "ab"};
  for (unsigned more = choices.below(3); more > 0; --more)
    options.interactions.emplace_back(spaces[choices.below(5)], spaces[choices.below(5)]);
  const std::size_t block_bytes = 1 + choices.below(255);
  const std::size_t longest_line = choices.below(8) ? std::size_t{1} << 20 : 64;
  fuzz::check_text<W>(choices.text(), std::make_shared<yarrow::VwParser<W>>(options), block_bytes,
                      longest_line);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Choices choices(data, size);
  choices.below(2) ? check<double>(choices) : check<float>(choices);
  return 0;
}

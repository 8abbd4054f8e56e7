// Without libFuzzer, main() gives LLVMFuzzerTestOneInput() the files that it is called with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

#ifdef YARROW_REPLAY
#include <filesystem>
#include <fstream>
#include <iterator>

/// Replays the files of the folders that are named.
int main(int count, char** names) {
  int replayed = 0;
  for (int i = 1; i < count; ++i)
    for (const auto& entry : std::filesystem::directory_iterator(names[i])) {
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string input{std::istreambuf_iterator<char>(file), {}};
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
      ++replayed;
    }
  std::printf("%d inputs\n", replayed);
  return replayed > 0 ? 0 : 1;
}
#endif

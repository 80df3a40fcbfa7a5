#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "capture/temporary_folder.hpp"
#include "core/error.hpp"
#include "elf/elf_file.hpp"
#include "elf/shared_object.hpp"
#include "support/guarded_bytes.hpp"

namespace memreplay {
namespace {

const std::filesystem::path kTorch = MEMREPLAY_PRETENDED_TORCH;

const SharedObject kSmall{.soname = "libsmall.so.3",
                          .needed = {"libother.so.1"},
                          .versions = {"OLD", "NEW"},
                          .functions = {{"plain", ""}, {"changed", "OLD"}, {"changed", "NEW"}}};

std::vector<std::string> sorted(std::vector<std::string_view> names) {
  std::ranges::sort(names);
  return {names.begin(), names.end()};
}

std::string bytes_of_file(const std::filesystem::path& path) {
  return std::string(MappedFile(path).bytes());
}

const UndefinedSymbol* undefined(const ElfFile& file, std::string_view name) {
  const auto found = std::ranges::find(file.undefined, name, &UndefinedSymbol::name);
  return found == file.undefined.end() ? nullptr : &*found;
}

std::string error_of(std::string_view bytes) {
  try {
    elf_file(bytes, "lib.so");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// Nothing but InputError may come out, and nothing after the bytes may be read.
void read_damaged(std::string_view bytes) {
  const GuardedBytes guarded(bytes);
  try {
    elf_file(guarded.bytes(), "damaged.so");
  } catch (const InputError& error) {
    EXPECT_TRUE(std::string_view(error.what()).starts_with("damaged.so: "));
  }
}

void read_every_damage(const std::string& whole) {
  for (std::size_t size = 0; size < whole.size(); ++size) read_damaged(whole.substr(0, size));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char flipped : {'\x01', '\x80', '\xff'}) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ flipped);
      if (whole[at] != 0 || flipped == '\xff') read_damaged(bytes);
    }
  }
}

TEST(ElfFiles, AreReadAsTheyWereWritten) {
  const std::string bytes = written(kSmall);
  const ElfFile file = elf_file(bytes, "lib.so");
  EXPECT_EQ(file.soname, "libsmall.so.3");
  EXPECT_EQ(file.needed, std::vector<std::string_view>{"libother.so.1"});
  EXPECT_TRUE(file.undefined.empty());
  const std::vector<std::string> names{"changed",
                                       "changed",
                                       std::string(kCountsSymbol),
                                       std::string(kNamesSymbol),
                                       std::string(kSizeSymbol),
                                       "plain"};
  EXPECT_EQ(sorted(file.defined), names);
}

TEST(ElfFiles, WithoutSectionsAreReadByTheirHash) {
  std::string bytes = written(kSmall);
  const ElfFile whole = elf_file(bytes, "lib.so");
  std::fill_n(bytes.begin() + offsetof(Elf64_Ehdr, e_shoff), sizeof(Elf64_Off), '\0');
  EXPECT_EQ(elf_file(bytes, "lib.so").defined, whole.defined);
}

TEST(ElfFiles, SayWhichVersionOfWhichLibraryASymbolNeeds) {
  const MappedFile mapped(kTorch / "lib/libc10_cuda.so");
  const ElfFile file = elf_file(mapped.bytes(), "libc10_cuda.so");
  EXPECT_EQ(file.soname, "libc10_cuda.so");
  EXPECT_TRUE(std::ranges::count(file.needed, "libcudart.so.13"));
  EXPECT_TRUE(std::ranges::count(file.defined, "allocate"));
  const UndefinedSymbol* const malloc = undefined(file, "cudaMalloc");
  ASSERT_NE(malloc, nullptr);
  EXPECT_EQ(malloc->version, "libcudart.so.13");
  EXPECT_EQ(malloc->library, "libcudart.so.13");
  EXPECT_FALSE(malloc->weak);
}

TEST(ElfFiles, SayWhichSymbolsAreWeakAndWhichHaveNoVersion) {
  const MappedFile mapped(kTorch / "lib/libtorch_cuda.so");
  const ElfFile file = elf_file(mapped.bytes(), "libtorch_cuda.so");
  const UndefinedSymbol* const reduce = undefined(file, "ncclAllReduce");
  ASSERT_NE(reduce, nullptr);
  EXPECT_EQ(reduce->version, "");
  EXPECT_EQ(reduce->library, "");
  const UndefinedSymbol* const maybe = undefined(file, "cudaMaybe");
  ASSERT_NE(maybe, nullptr);
  EXPECT_TRUE(maybe->weak);
}

TEST(ElfFiles, OfAnotherKindAreRefusedWithWhatIsExpected) {
  const std::string bytes = written(kSmall);
  std::string arm = bytes, program = bytes, small = bytes;
  arm[offsetof(Elf64_Ehdr, e_machine)] = static_cast<char>(EM_AARCH64);
  program[offsetof(Elf64_Ehdr, e_type)] = ET_EXEC;
  small[EI_CLASS] = ELFCLASS32;
  const std::string expected = "; expected a 64-bit shared object for x86-64";
  EXPECT_EQ(error_of("#!/bin/sh"), "lib.so: is no ELF file" + expected);
  EXPECT_EQ(error_of(arm), "lib.so: is made for another processor" + expected);
  EXPECT_EQ(error_of(small), "lib.so: is made for another processor" + expected);
  EXPECT_EQ(error_of(program), "lib.so: is no shared object" + expected);
}

TEST(ElfFiles, CutShortAreNamedWithThePlace) {
  const std::string bytes = written(kSmall);
  EXPECT_EQ(
      error_of(bytes.substr(0, 100)),
      "lib.so: byte 64: is cut short in the program headers; expected a complete shared object");
}

TEST(ElfFiles, CutOrFlippedAnywhereAreReadOrRefused) { read_every_damage(written(kSmall)); }

TEST(ElfFiles, OfTheLinkerCutOrFlippedAnywhereAreReadOrRefused) {
  read_every_damage(bytes_of_file(kTorch / "lib/libc10_cuda.so"));
  read_every_damage(bytes_of_file(kTorch / "lib/libtorch_cuda.so"));
}

TEST(MappedFiles, ThatAreNotThereAreAnError) {
  EXPECT_THROW(MappedFile("/nowhere/lib.so"), InputError);
  EXPECT_THROW(MappedFile("/"), InputError);
  const TemporaryFolder folder;
  EXPECT_EQ(MappedFile(folder.write("empty.so", "")).bytes(), "");
}

}  // namespace
}  // namespace memreplay

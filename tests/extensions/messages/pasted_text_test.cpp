#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "core/error.hpp"
#include "core/oom_message.hpp"
#include "trace/readers.hpp"

namespace memreplay {
namespace {

// Its chunks are those of a pool of 19968 bytes; 6000 are asked for and 8960 free.
const std::string kBfc =
    "Allocator (GPU_0_bfc) ran out of memory trying to allocate 5.9KiB (rounded to "
    "6144)requested by op (driver)\n"
    "Current allocation summary follows.\n"
    "BFCAllocator dump for GPU_0_bfc\n"
    "Bin (256): \tTotal Chunks: 1, Chunks in use: 1. 256B allocated for chunks. 256B in use in "
    "bin. 1B client-requested in use in bin.\n"
    "Bin (4096): \tTotal Chunks: 3, Chunks in use: 1. 13.8KiB allocated for chunks. 5.0KiB in use "
    "in bin. 4.6KiB client-requested in use in bin.\n"
    "Bin for 6.0KiB was 4.0KiB, Chunk State: \n"
    "  Size: 4.2KiB | Requested Size: 4.0KiB | in_use: 0 | bin_num: 4\n"
    "Next region of size 19968\n"
    "InUse at 100000000000 of size 5120 next 1\n"
    "Free  at 100000001600 of size 4608 next 2\n"
    "Free  at 100000002a00 of size 4352 next 3\n"
    "InUse at 100000003b00 of size 5888 next 18446744073709551615\n"
    "     Summary of in-use Chunks by size: \n"
    "1 Chunks of size 5120 totalling 5.0KiB\n"
    "Sum Total of in-use chunks: 10.8KiB\n"
    "Total bytes in pool: 19968 memory_limit_: 20000 available bytes: 32 "
    "curr_region_allocation_bytes_: 40448\n"
    "Stats: \n"
    "Limit:                           20000\n"
    "InUse:                           11008\n"
    "MaxInUse:                        19968\n"
    "LargestFreeBlock:                    0\n"
    "\n"
    "****____xx\n"
    "Allocator (GPU_0_bfc) ran out of memory trying to allocate 5.9KiB with freed_by_count=0.\n";

const std::string kModern =
    "[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 122.00 MiB. GPU 1 has "
    "a "
    "total capacity of 2.33 GiB of which 74.00 MiB is free. Including non-PyTorch memory, this "
    "process has 2.20 GiB memory in use. 2.00 GiB allowed; Of the allocated memory 1.87 GiB is "
    "allocated by PyTorch, with 10.00 MiB allocated in private pools (e.g., CUDA Graphs), and "
    "400.28 MiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is\n";

std::vector<OomMessage> all_in(const std::string& text) {
  const ReaderInfo reader = pasted_text_reader();
  const Input input{"log", text};
  EXPECT_TRUE(reader.recognises(input)) << text;
  return reader.read(input, {}).text->messages;
}

OomMessage told_by(const std::string& text) { return all_in(text).at(0); }

Bytes bytes(const std::optional<RoundedBytes>& figure) { return figure.value().bytes; }

// Whole figures are the truth; of one with decimals a text does not tell more than its last digit.
Bytes mib(double size) { return static_cast<Bytes>(size * (1 << 20)); }
Bytes gib(double size) { return static_cast<Bytes>(size * (1 << 30)); }

std::string prefixed(const std::string& text, const std::string& prefix) {
  std::string lines;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = text.find('\n', from) + 1;
    lines += prefix + text.substr(from, end - from);
    from = end;
  }
  return lines;
}

void expect_the_report(const OomMessage& failure) {
  EXPECT_EQ(failure.kind, "bfc");
  EXPECT_EQ(failure[OomWord::allocator], "GPU_0_bfc");
  EXPECT_EQ(failure[Figure::requested], (RoundedBytes{6144, 0}));
  EXPECT_EQ(failure[Figure::limit], (RoundedBytes{20000, 0}));
  EXPECT_EQ(failure[Figure::live], (RoundedBytes{11008, 0}));
  EXPECT_EQ(failure[Figure::live_peak], (RoundedBytes{19968, 0}));
  EXPECT_EQ(failure[Figure::reserved], (RoundedBytes{19968, 0}));
  EXPECT_EQ(bytes(failure[Figure::free_inside]), 8960u);
  EXPECT_EQ(bytes(failure[Figure::largest_free]), 4608u);
  EXPECT_EQ(failure[Count::segments], 1u);
  EXPECT_EQ(failure[Count::live_blocks], 2u);
  ASSERT_EQ(failure.bins.size(), 2u);
  EXPECT_EQ(failure.bins[1].chunks, 3u);
  EXPECT_EQ(failure.bins[1].from, 4096u);
}

TEST(PastedText, AReportOfABfcAllocatorIsRead) { expect_the_report(told_by(kBfc)); }

TEST(PastedText, PrefixesOfALogAndOtherLinesDoNotMatter) {
  expect_the_report(told_by(prefixed(
      kBfc, "2024-01-02 03:04:05.123456: I external/tsl/framework/bfc_allocator.cc:1101] ")));
  std::string crlf = "epoch 1, loss 0.3\n" + kBfc + "Traceback (most recent call last):\n";
  for (std::size_t at = 0; (at = crlf.find('\n', at)) != crlf.npos; at += 2) crlf.insert(at, "\r");
  expect_the_report(told_by(crlf));
}

TEST(PastedText, EveryReportIsRead) {
  const std::string cut = kBfc.substr(kBfc.find("InUse at 100000003b00"));
  const std::vector<OomMessage> messages = all_in(cut + kBfc + kBfc);
  expect_the_report(messages.at(1));
  EXPECT_EQ(messages[1].times, 2u);
}

TEST(PastedText, AReportWithoutItsBeginningStillSaysWhatWasAskedFor) {
  const OomMessage failure = told_by(kBfc.substr(kBfc.find("Sum Total")));
  EXPECT_EQ(bytes(failure[Figure::requested]), 6041u);  // "5.9KiB"
  EXPECT_EQ(failure[Figure::requested]->within, 103u);
  EXPECT_EQ(failure[Figure::live], (RoundedBytes{11008, 0}));
  EXPECT_FALSE(failure[Figure::largest_free]);
}

TEST(PastedText, AListOfChunksThatIsCutOffTellsNoLargestHole) {
  const OomMessage failure = told_by(kBfc.substr(0, kBfc.find("     Summary")));
  EXPECT_FALSE(failure[Figure::largest_free]);
  EXPECT_FALSE(failure[Count::segments]);
  EXPECT_EQ(failure[Figure::requested], (RoundedBytes{6144, 0}));
}

TEST(PastedText, AllBinsTellWhatIsFreeWhereTheRestIsCutOff) {
  std::string text = "BFCAllocator dump for GPU_0_bfc\n";
  for (std::uint64_t bin = 0; bin < 21; ++bin) {
    const bool used = bin == 4;
    text += "Bin (" + std::to_string(256 << bin) + "): \tTotal Chunks: " + (used ? "3" : "0") +
            ", Chunks in use: 1. " + (used ? "13.8KiB" : "0B") + " allocated for chunks. " +
            (used ? "5.0KiB" : "0B") + " in use in bin. 0B client-requested in use in bin.\n";
  }
  const OomMessage failure = told_by(text);
  EXPECT_EQ(bytes(failure[Figure::reserved]), 14131u);
  EXPECT_EQ(bytes(failure[Figure::live]), 5120u);
  EXPECT_EQ(bytes(failure[Figure::free_inside]), 9011u);
  EXPECT_EQ(failure.bins.size(), 1u);
}

TEST(PastedText, NewerReportsAndErrorsOfJaxAreRead) {
  const OomMessage failure = told_by(
      "Allocator memory summary: rounded request 1.00GiB, total free in pool 3.00GiB, largest free "
      "chunk usable by lower end 512.00MiB, unallocated bytes 0B, pool size 8.00GiB, pool limit "
      "8.00GiB\n");
  EXPECT_EQ(bytes(failure[Figure::requested]), gib(1));
  EXPECT_EQ(bytes(failure[Figure::free_inside]), gib(3));
  EXPECT_EQ(bytes(failure[Figure::largest_free]), mib(512));
  EXPECT_EQ(bytes(failure[Figure::limit]), gib(8));
  EXPECT_EQ(bytes(told_by("XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to "
                          "allocate 1099511627776 bytes.\n")[Figure::requested]),
            Bytes{1} << 40);
}

TEST(PastedText, PyTorchsMessageIsRead) {
  for (const std::string& text : {kModern, prefixed(kModern, "(Worker pid=7) ") + kBfc}) {
    const OomMessage failure = told_by(text);
    EXPECT_EQ(failure.kind, "torch");
    EXPECT_EQ(failure[Count::gpu], 1u);
    EXPECT_EQ(bytes(failure[Figure::requested]), mib(122));
    EXPECT_EQ(bytes(failure[Figure::device]), gib(2.33));
    EXPECT_EQ(failure[Figure::device]->within, 10'737'419u);
    EXPECT_EQ(bytes(failure[Figure::device_free]), mib(74));
    EXPECT_EQ(bytes(failure[Figure::process]), gib(2.2));
    EXPECT_EQ(bytes(failure[Figure::limit]), gib(2));
    EXPECT_EQ(bytes(failure[Figure::live]), gib(1.87));
    EXPECT_EQ(bytes(failure[Figure::private_pools]), mib(10));
    EXPECT_EQ(bytes(failure[Figure::free_inside]), mib(400.28));
    EXPECT_EQ(bytes(failure[Figure::reserved]),
              bytes(failure[Figure::live]) + bytes(failure[Figure::free_inside]));
  }
}

TEST(PastedText, TheWordsOfOlderReleasesAreRead) {
  const OomMessage v1 = told_by(
      "RuntimeError: CUDA out of memory. Tried to allocate 2.26 GiB (GPU 0; 6.00 GiB total "
      "capacity; 781.59 MiB already allocated; 3.03 GiB free; 4.00 GiB allowed; 1.24 GiB reserved "
      "in total by PyTorch) If reserved memory is >> allocated memory");
  EXPECT_EQ(v1[Count::gpu], 0u);
  EXPECT_EQ(bytes(v1[Figure::requested]), gib(2.26));
  EXPECT_EQ(bytes(v1[Figure::device]), gib(6));
  EXPECT_EQ(bytes(v1[Figure::live]), mib(781.59));
  EXPECT_EQ(bytes(v1[Figure::device_free]), gib(3.03));
  EXPECT_EQ(bytes(v1[Figure::limit]), gib(4));
  EXPECT_EQ(bytes(v1[Figure::reserved]), gib(1.24));
  const OomMessage v0 = told_by(
      "CUDA out of memory. Tried to allocate 12.50 MiB (GPU 0; 10.92 GiB total capacity; 8.57 MiB "
      "already allocated; 9.28 GiB free; 4.68 MiB cached)\n");
  EXPECT_EQ(bytes(v0[Figure::free_inside]), mib(4.68));
  EXPECT_EQ(bytes(v0[Figure::reserved]), mib(8.57) + mib(4.68));
  const OomMessage v2 = told_by(
      "CUDA out of memory. Tried to allocate 32.00 MiB. GPU 0 has a total capacty of 4.00 GiB of\n"
      "which 0 bytes is free. Including non-PyTorch memory, this process has 17179869184.00 GiB\n"
      "memory in use. Of the allocated memory 2.58 GiB is allocated by PyTorch, and 1.90 MiB is\n"
      "reserved by PyTorch but unallocated.");
  EXPECT_EQ(bytes(v2[Figure::device]), gib(4));
  EXPECT_EQ(v2[Figure::device_free], (RoundedBytes{0, 0}));
  EXPECT_FALSE(v2[Figure::process]);
  EXPECT_EQ(bytes(v2[Figure::live]), gib(2.58));
}

const std::string kTable =
    "|            CUDA OOMs: 1            |        cudaMalloc retries: 3         |\n"
    "|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |\n"
    "| Allocated memory      |  27086 KiB | 118428 KiB |    936 MiB |    909 MiB |\n"
    "|       from large pool |  25420 KiB | 115848 KiB |    914 MiB |    889 MiB |\n"
    "| Requested memory      |  26241 KiB | 116687 KiB |    929 MiB |    904 MiB |\n"
    "| GPU reserved memory   | 167936 KiB | 167937 KiB | 167936 KiB |      0 B   |\n"
    "| Non-releasable memory |  20018 KiB |  47242 KiB | 327806 KiB | 307788 KiB |\n"
    "| Allocations           |      32    |      47    |     184    |     152    |\n"
    "| GPU reserved segments |      13    |      13    |      13    |       0    |\n";

std::string table_of(int gpu) {
  return "|                  PyTorch CUDA memory summary, device ID " + std::to_string(gpu) +
         "                 |\n" + kTable;
}

TEST(PastedText, ATableOfPyTorchIsReadAmidOtherLines) {
  const OomMessage failure = told_by(prefixed("loss 0.3\n" + table_of(0) + "bye\n", "[0] INFO: "));
  EXPECT_EQ(failure.kind, "torch-summary");
  EXPECT_EQ(failure[Count::gpu], 0u);
  EXPECT_EQ(failure[Count::ooms], 1u);
  EXPECT_EQ(failure[Count::retries], 3u);
  EXPECT_EQ(failure[Figure::live], (RoundedBytes{27086 << 10, 1 << 10}));
  EXPECT_EQ(bytes(failure[Figure::live_peak]), 118428u << 10);
  EXPECT_EQ(bytes(failure[Figure::live_requested]), 26241u << 10);
  EXPECT_EQ(bytes(failure[Figure::reserved]), 167936u << 10);
  EXPECT_EQ(bytes(failure[Figure::reserved_peak]), 167937u << 10);
  EXPECT_EQ(bytes(failure[Figure::not_releasable]), 20018u << 10);
  EXPECT_EQ(failure[Count::live_blocks], 32u);
  EXPECT_EQ(failure[Count::segments], 13u);
}

TEST(PastedText, TablesOfTheOriginalSayWhatItsStatisticsSay) {
  const std::filesystem::path corpus = std::filesystem::path(MEMREPLAY_SHARED) / "corpus/torch";
  if (!std::filesystem::exists(corpus)) GTEST_SKIP() << "no recordings in " << corpus;
  int tables = 0;
  for (const auto& file : std::filesystem::directory_iterator(corpus)) {
    if (file.path().extension() != ".json") continue;
    const nlohmann::json run = nlohmann::json::parse(std::ifstream(file.path()));
    if (!run.contains("memory_summary") || !run["memory_summary"].is_string()) continue;
    SCOPED_TRACE(file.path());
    const OomMessage told = told_by(run["memory_summary"].get<std::string>());
    const nlohmann::json& stats = run["memory_stats"];
    const auto expect_told = [&](const std::optional<RoundedBytes>& figure, const char* name) {
      const Bytes truth = stats[name].get<Bytes>();
      ASSERT_TRUE(figure) << name;
      EXPECT_GE(truth, figure->bytes) << name;
      EXPECT_LE(truth - figure->bytes, figure->within) << name;
    };
    expect_told(told[Figure::live], "allocated_bytes.all.current");
    expect_told(told[Figure::live_peak], "allocated_bytes.all.peak");
    const bool counts_requests = stats["requested_bytes.all.peak"].get<Bytes>() > 0;
    if (counts_requests) {
      expect_told(told[Figure::live_requested], "requested_bytes.all.current");
    } else {  // cudaMallocAsync
      EXPECT_FALSE(told[Figure::live_requested]);
    }
    expect_told(told[Figure::reserved], "reserved_bytes.all.current");
    expect_told(told[Figure::reserved_peak], "reserved_bytes.all.peak");
    EXPECT_EQ(told[Count::live_blocks], stats["allocation.all.current"].get<std::uint64_t>());
    EXPECT_EQ(told[Count::segments], stats["segment.all.current"].get<std::uint64_t>());
    EXPECT_EQ(told[Count::ooms], stats["num_ooms"].get<std::uint64_t>());
    EXPECT_EQ(told[Count::retries], stats["num_alloc_retries"].get<std::uint64_t>());
    ++tables;
  }
  EXPECT_GT(tables, 0);
}

TEST(PastedText, ATableOfTheSameDeviceCompletesAMessage) {
  const OomMessage failure = all_in(table_of(0) + kModern + table_of(1)).at(1);
  EXPECT_EQ(failure.kind, "torch");
  EXPECT_EQ(bytes(failure[Figure::live]), gib(1.87));
  EXPECT_EQ(bytes(failure[Figure::reserved_peak]), 167937u << 10);
  EXPECT_FALSE(all_in(table_of(0) + kModern).at(1)[Figure::reserved_peak]);
}

TEST(PastedText, AFigureThatIsCutOffCountsAsNone) {
  for (const std::string& text : {kBfc, kModern, table_of(1)}) {
    const OomMessage whole = told_by(text);
    const auto is_told = [](const auto& truth, const auto& part) {
      return !part || (truth && part->bytes == truth->bytes);
    };
    const ReaderInfo reader = pasted_text_reader();
    for (std::size_t cut = 0; cut < text.size(); ++cut) {
      for (const std::string& part : {text.substr(0, cut), text.substr(cut)}) {
        const Input input{"log", part};
        if (!reader.recognises(input)) {
          EXPECT_THROW(reader.read(input, {}), InputError);
          continue;
        }
        const OomMessage told = reader.read(input, {}).text->messages.at(0);
        for (const auto figure :
             {Figure::device, Figure::device_free, Figure::limit, Figure::live_peak}) {
          EXPECT_TRUE(is_told(whole[figure], told[figure])) << part;
        }
        if (told[Figure::live] && told[Figure::live]->within == 0) {
          EXPECT_EQ(told[Figure::live], whole[Figure::live]) << part;
        }
      }
    }
  }
}

TEST(PastedText, WhatSaysNothingOfMemoryIsRefused) {
  const ReaderInfo reader = pasted_text_reader();
  for (const std::string text : {"", "loss 0.3\n", "out of memory\n", "Bin (256):\n"}) {
    EXPECT_FALSE(reader.recognises({"log", text}));
    EXPECT_THROW(reader.read({"log", text}, {}), InputError);
  }
}

std::string wrapped(const std::string& text, std::size_t width, const std::string& prefix) {
  std::string lines = prefix;
  std::size_t column = 0;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (column > 0 && column + 1 + word.size() > width) {
      lines += "\n" + prefix;
      column = 0;
    }
    lines += (column > 0 ? " " : "") + word;
    column += word.size() + 1;
  }
  return lines + "\n";
}

TEST(PastedText, AdviceIsNoSettingWhereverItsLineBegins) {
  const std::string message =
      kModern +
      "large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.";
  for (std::size_t width = 40; width < 200; ++width) {
    for (const std::string prefix : {"", "> ", "trainer-1  | "}) {
      const std::string text = wrapped(message, width, prefix);
      EXPECT_FALSE(told_by(text).expandable_segments) << text;
    }
  }
  const std::string set = "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n";
  EXPECT_TRUE(told_by(set + wrapped(message, 80, "")).expandable_segments);
}

}  // namespace
}  // namespace memreplay

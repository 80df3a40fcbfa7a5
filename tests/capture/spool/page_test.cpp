#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "spool/page_reader.hpp"
#include "spool/page_writer.hpp"

namespace memreplay::capture {
namespace {

/// A record as CUDA's recorder has them.
struct Long : Record {
  std::array<std::uint8_t, 32> further = {};
};

using Bytes = std::vector<std::uint8_t>;
constexpr std::uint64_t kFirstOrder = 1000;

/// The slow, obvious writer: entries as the format describes them, each number a byte at a time.
class Model {
 public:
  template <typename R>
  void add(const R& record) {
    const Call call = call_of(record);
    const std::uint64_t moved = signed_number(static_cast<std::int64_t>(record.address / 16) -
                                              static_cast<std::int64_t>(sixteenth_));
    const bool is_odd = record.address % 16 != 0 || moved > 0xffff'ffff'ffff;
    const bool is_end = bytes_of(record) == 0 && align_log2_of(record) == 0;
    Bytes rest;
    int entry = 2;
    int size_code = 0;
    if (is_odd) {
      entry = 3;
    } else if (call == Call::allocate) {
      size_code = code(bytes_of(record));
      entry = align_log2_of(record) == 0 ? 4 : 8;
      put(rest, bytes_of(record), length(size_code));
      if (entry == 8) put(rest, align_log2_of(record), 1);
    } else if (is_end && call == Call::free) {
      entry = 12;
    } else if (is_end && call == Call::reallocating) {
      entry = 13;
    }
    if (entry < 4) put(rest, record.what, 8);
    if constexpr (sizeof(R) > sizeof(Record)) {
      rest.insert(rest.end(), record.further.begin(), record.further.end());
    }
    const std::uint64_t before = record.order - order_;
    const int address_code = is_odd ? 0 : code(moved);
    begins_.push_back(bytes_.size());
    put(bytes_,
        static_cast<std::uint64_t>((entry + size_code) * 16 + address_code * 4 + code(before)), 1);
    put(bytes_, before, length(code(before)));
    is_odd ? put(bytes_, record.address, 8) : put(bytes_, moved, length(address_code));
    bytes_.insert(bytes_.end(), rest.begin(), rest.end());
    order_ = record.order;
    sixteenth_ = record.address / 16;
  }

  const Bytes& bytes() const { return bytes_; }
  /// Where entries begin, after the page's head.
  const std::vector<std::size_t>& begins() const { return begins_; }

 private:
  static int code(std::uint64_t number) {
    return number < 256 ? 0 : number < 65536 ? 1 : number < 16777216 ? 2 : 3;
  }
  static int length(int code) { return code < 3 ? code + 1 : 6; }
  static std::uint64_t signed_number(std::int64_t number) {
    return static_cast<std::uint64_t>(number < 0 ? -2 * number - 1 : 2 * number);
  }
  static void put(Bytes& to, std::uint64_t number, int bytes) {
    for (int i = 0; i < bytes; ++i) to.push_back(static_cast<std::uint8_t>(number >> (8 * i)));
  }

  Bytes bytes_;
  std::vector<std::size_t> begins_;
  std::uint64_t order_ = kFirstOrder;
  std::uint64_t sixteenth_ = 0;
};

struct alignas(64) Page {
  std::array<std::byte, kSpoolPageBytes> bytes = {};
  Page() { *reinterpret_cast<SpoolPageHead*>(bytes.data()) = {.thread = 7, .order = kFirstOrder}; }
  std::byte* entries() { return bytes.data() + sizeof(SpoolPageHead); }
};

template <typename R>
struct ReadBack {
  std::vector<R> records;
  bool is_torn = false;
};

template <typename R>
ReadBack<R> told(const Page& page, std::size_t size = kSpoolPageBytes) {
  PageReader reader(page.bytes.data(), size, sizeof(R), 0);
  alignas(R) std::array<std::byte, sizeof(R)> call;
  ReadBack<R> out;
  while (reader.next(call.data())) {
    std::memcpy(&out.records.emplace_back(), call.data(), sizeof(R));
  }
  out.is_torn = reader.is_torn();
  return out;
}

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  /// Numbers of every length.
  std::uint64_t number(unsigned most_bits) {
    const unsigned bits = static_cast<unsigned>(random_() % (most_bits + 1));
    return bits == 0 ? 0 : random_() >> (64 - bits);
  }
  template <typename R>
  R record(std::uint64_t order) {
    R record;
    record.order = order + number(40);
    record.address = number(47) / 16 * 16;
    const auto call = static_cast<Call>(1 + random_() % 8);
    const bool is_short = random_() % 2 == 0;
    if (random_() % 8 == 0) record.address = number(64);
    record.what = is_short ? described(call, 0)
                           : described(call, number(48), static_cast<std::uint8_t>(number(6)));
    if constexpr (sizeof(R) > sizeof(Record)) {
      for (auto& byte : record.further) byte = static_cast<std::uint8_t>(random_());
    }
    return record;
  }
  std::uint64_t operator()() { return random_(); }

 private:
  std::mt19937_64 random_;
};

template <typename R>
struct Drawn {
  Page page;
  Model model;
  std::vector<R> records;

  explicit Drawn(std::uint64_t seed) {
    Draw draw(seed);
    PageEnd end = end_of_new_page(page.bytes.data(), sizeof(R));
    std::uint64_t order = kFirstOrder;
    while (end.next < end.full) {
      records.push_back(draw.record<R>(order));
      order = records.back().order;
      write_entry(end, records.back());
      model.add(records.back());
    }
  }
  /// The place in the page after the first `count` entries.
  std::size_t end_of(std::size_t count) const {
    const auto& begins = model.begins();
    return sizeof(SpoolPageHead) + (count < begins.size() ? begins[count] : model.bytes().size());
  }
};

template <typename R>
bool are_equal(const R& a, const R& b) {
  if constexpr (sizeof(R) > sizeof(Record)) {
    if (a.further != b.further) return false;
  }
  return a.order == b.order && a.address == b.address && a.what == b.what;
}

template <typename R>
void expect_first(std::size_t count, const std::vector<R>& of, const ReadBack<R>& is) {
  ASSERT_EQ(is.records.size(), count);
  for (std::size_t i = 0; i < count; ++i) ASSERT_TRUE(are_equal(is.records[i], of[i])) << i;
}

template <typename R>
class SpoolPage : public testing::Test {};
using Kinds = testing::Types<Record, Long>;
TYPED_TEST_SUITE(SpoolPage, Kinds);

TYPED_TEST(SpoolPage, IsWhatTheFormatSays) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Drawn<TypeParam> drawn(seed);
    const Bytes& expected = drawn.model.bytes();
    ASSERT_EQ(std::memcmp(drawn.page.entries(), expected.data(), expected.size()), 0);
    for (std::size_t at = drawn.end_of(drawn.records.size()); at < kSpoolPageBytes; ++at) {
      ASSERT_EQ(drawn.page.bytes[at], std::byte{});
    }
  }
}

TYPED_TEST(SpoolPage, IsReadAsItWasWritten) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Drawn<TypeParam> drawn(seed);
    const auto is = told<TypeParam>(drawn.page);
    expect_first(drawn.records.size(), drawn.records, is);
    EXPECT_FALSE(is.is_torn);
  }
}

TYPED_TEST(SpoolPage, CutOffAnywhereLosesTheCallThere) {
  const Drawn<TypeParam> drawn(1);
  std::size_t whole = 0;
  for (std::size_t size = sizeof(SpoolPageHead); size <= kSpoolPageBytes; ++size) {
    while (whole < drawn.records.size() && drawn.end_of(whole + 1) <= size) ++whole;
    const auto is = told<TypeParam>(drawn.page, size);
    expect_first(whole, drawn.records, is);
    const bool is_between = size == drawn.end_of(whole) || whole == drawn.records.size();
    EXPECT_EQ(is.is_torn, !is_between) << size;
  }
}

/// An entry's bytes come in any order, but its head last.
TYPED_TEST(SpoolPage, ACallThatIsBeingWrittenIsNoneYet) {
  const Drawn<TypeParam> drawn(2);
  for (std::size_t count = 0; count < drawn.records.size(); ++count) {
    Page page = drawn.page;
    const std::size_t end = drawn.end_of(count + 1);
    std::memset(page.bytes.data() + end, 0, kSpoolPageBytes - end);
    page.bytes[drawn.end_of(count)] = {};
    expect_first(count, drawn.records, told<TypeParam>(page));
  }
}

TYPED_TEST(SpoolPage, OfAnyBytesEnds) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Draw draw(seed);
    Page page;
    for (auto& byte : page.bytes) byte = static_cast<std::byte>(draw());
    EXPECT_LE(told<TypeParam>(page).records.size(), kSpoolPageBytes / 3);
  }
}

TEST(SpoolPageTimes, GoOnFromTheLastOneThatWasWritten) {
  Page page;
  PageEnd end = end_of_new_page(page.bytes.data(), sizeof(Record));
  write_entry(end, Record{.order = kFirstOrder + 10, .what = described(Call::free, 0)});
  write_time(end, kFirstOrder + 20, 5000);
  write_entry(end, Record{.order = kFirstOrder + 30, .what = described(Call::free, 0)});
  write_time(end, kFirstOrder + 40, 4000);
  write_entry(end, Record{.order = kFirstOrder + 40, .what = described(Call::free, 0)});
  PageReader reader(page.bytes.data(), kSpoolPageBytes, sizeof(Record), 2.5);
  Record record;
  auto* const bytes = reinterpret_cast<std::byte*>(&record);
  std::vector<std::int64_t> times;
  while (reader.next(bytes)) times.push_back(record.time_ns);
  EXPECT_EQ(times, (std::vector<std::int64_t>{25, 5025, 4000}));
  EXPECT_EQ(reader.timed_order(), kFirstOrder + 40);
}

}  // namespace
}  // namespace memreplay::capture

#include "device/host/system_memory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "device/real/real_memory.hpp"

namespace memreplay {
namespace {

namespace fs = std::filesystem;

/// A machine of files: 64 GiB, 48 GiB of them available.
class AMachine : public testing::Test {
 protected:
  AMachine() {
    fs::remove_all(root_);
    write("/proc/meminfo",
          "MemTotal:       67108864 kB\nMemFree: 1 kB\nMemAvailable:   50331648 kB\n");
    write("/proc/cpuinfo", "processor\t: 0\nmodel name\t: A Processor 9000\nflags\t: fpu\n");
  }
  ~AMachine() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  SystemMemory read() const { return SystemMemory(root_); }

  void second_version(const std::string& path, const std::string& mounted = "/") {
    write("/proc/self/cgroup", "0::" + path + "\n");
    write("/proc/self/mountinfo",
          "22 1 0:20 / /proc rw - proc proc rw\n"
          "31 23 0:28 " +
              mounted + " /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n");
  }

 private:
  std::string root_ = testing::TempDir() + "memreplay_machine_" +
                      testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(AMachine, WithoutGroupsItHasWhatTheKernelSays) {
  EXPECT_EQ(read().total(), 64 * kGiB);
  EXPECT_EQ(read().available(), 48 * kGiB);
  EXPECT_EQ(read().processor(), "A Processor 9000");
}

TEST_F(AMachine, AProcessorWithoutAModelNameIsCalledHost) {
  write("/proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 50.00\n");
  EXPECT_EQ(read().processor(), "host");
}

TEST_F(AMachine, TheLimitOfTheGroupIsTheTotal) {
  second_version("/job/step");
  write("/sys/fs/cgroup/job/step/memory.max", "8589934592\n");
  write("/sys/fs/cgroup/job/step/memory.current", "3221225472\n");
  write("/sys/fs/cgroup/job/step/memory.stat", "anon 1\nactive_file 7\ninactive_file 1073741824\n");
  EXPECT_EQ(read().total(), 8 * kGiB);
  EXPECT_EQ(read().available(), 6 * kGiB);  // cached files go when there is need
}

TEST_F(AMachine, TheLimitOfAGroupAboveCountsToo) {
  second_version("/job/step");
  write("/sys/fs/cgroup/job/step/memory.max", "max\n");
  write("/sys/fs/cgroup/job/memory.max", "4294967296\n");
  write("/sys/fs/cgroup/job/memory.current", "4294967297\n");
  EXPECT_EQ(read().total(), 4 * kGiB);
  EXPECT_EQ(read().available(), 0u);
}

TEST_F(AMachine, TheFirstVersionHasItsOwnNames) {
  write("/proc/self/cgroup", "9:name=systemd:/\n5:cpu,memory:/box/one\n0::/\n");
  write("/proc/self/mountinfo",
        "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,cpu,memory\n"
        "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n");
  write("/sys/fs/cgroup/memory/box/one/memory.limit_in_bytes", "2147483648\n");
  write("/sys/fs/cgroup/memory/box/one/memory.usage_in_bytes", "1610612736\n");
  write("/sys/fs/cgroup/memory/box/one/memory.stat",
        "inactive_file 1\ntotal_inactive_file 536870912\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(read().total(), 2 * kGiB);
  EXPECT_EQ(read().available(), kGiB);
}

TEST_F(AMachine, InAContainerTheMountBeginsAtItsOwnGroup) {
  second_version("/docker/abc", "/docker/abc");
  write("/sys/fs/cgroup/memory.max", "1073741824\n");
  EXPECT_EQ(read().total(), kGiB);
  second_version("/../outside");
  EXPECT_EQ(read().total(), kGiB);
}

TEST_F(AMachine, AMachineThatTellsNothingIsAnError) {
  write("/proc/meminfo", "");
  EXPECT_THROW(read(), DeviceError);
}

}  // namespace
}  // namespace memreplay

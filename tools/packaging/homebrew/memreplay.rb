# Draft of a formula for Homebrew on Linux. URL and digest are those of the first published release.
class Memreplay < Formula
  desc "Replays recorded GPU allocations: why out of memory, and which setting helps"
  homepage "https://example.invalid/memreplay"
  url "https://example.invalid/memreplay/archive/v0.2.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "MIT"

  depends_on "cli11" => :build
  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "nlohmann-json" => :build
  depends_on "fmt"
  depends_on :linux
  depends_on "sqlite"
  depends_on "zlib"
  depends_on "zstd"

  resource "dygraphs" do
    url "https://registry.npmjs.org/dygraphs/-/dygraphs-2.2.1.tgz"
    sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  end

  def install
    resource("dygraphs").stage buildpath/"dygraphs"
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DMEMREPLAY_TESTS=OFF", "-DMEMREPLAY_UNITY_BUILD=ON",
           "-DMEMREPLAY_PYTHON_READER=OFF", "-DMEMREPLAY_CUDA=OFF", "-DDYGRAPHS_DIR=#{buildpath}/dygraphs/dist",
           *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    system bin/"memreplay", "generate", "random", "random.mrt", "--events", "1000", "--live", "50"
    assert_match "MaxInUse", shell_output("#{bin}/memreplay replay random.mrt -s torch")
  end
end

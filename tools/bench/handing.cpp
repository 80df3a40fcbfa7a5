// handing THREADS BLOCKS: asks for blocks and frees them, each thread some of which it keeps a
// thousand; nothing else is done.
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr unsigned kKept = 1000;

void ask(unsigned seed, long blocks) {
  std::vector<void*> kept(kKept);
  for (long i = 0; i < blocks; ++i) {
    seed = seed * 1664525u + 1013904223u;
    void*& place = kept[(seed >> 8) % kKept];
    std::free(place);
    place = std::malloc(16 + (seed >> 20) % 1000);
  }
  for (void* block : kept) std::free(block);
}

}  // namespace

int main(int, char** arguments) {
  const int threads = std::atoi(arguments[1]);
  const long blocks = std::atol(arguments[2]);
  std::vector<std::jthread> all;
  for (int i = 1; i < threads; ++i) all.emplace_back(ask, i, blocks / threads);
  ask(0, blocks / threads);
}

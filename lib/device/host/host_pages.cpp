#include "device/host/host_pages.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <iterator>
#include <stdexcept>

#include "device/host/pointer.hpp"
#include "device/host/system_memory.hpp"

namespace memreplay {
namespace {

constexpr Bytes kFileSize = Bytes{1} << 60;
constexpr int kNothing = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

/// -1 where there is none to be had. A file above the process's limit would end it.
int open_file() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur < kFileSize) return -1;
  const int file = ::memfd_create("memreplay", MFD_CLOEXEC);
  if (file >= 0 && ::ftruncate(file, static_cast<off_t>(kFileSize)) != 0) {
    ::close(file);
    return -1;
  }
  return file;
}

}  // namespace

HostPages::HostPages(Room& room, Bytes page) : room_(&room), page_(page), file_(open_file()) {}

HostPages::~HostPages() {
  if (file_ >= 0) ::close(file_);
}

std::optional<Address> HostPages::reserve(Bytes size) {
  check_whole(size);
  void* at = ::mmap(nullptr, size, PROT_NONE, kNothing, -1, 0);
  if (at == MAP_FAILED) {
    if (errno == ENOMEM) return std::nullopt;
    throw_system_error("mmap");
  }
  const auto address = reinterpret_cast<Address>(at);
  reservations_[address] = size;
  return address;
}

void HostPages::release(Address at, Bytes size) {
  const auto found = reservations_.find(at);
  if (found == reservations_.end() || found->second != size) {
    throw std::logic_error("host: release of addresses that were not reserved so");
  }
  if (any_mapped(at, size)) throw std::logic_error("host: release of addresses that are mapped");
  if (::munmap(pointer_to(at), size) != 0) throw_system_error("munmap");
  reservations_.erase(found);
}

std::optional<HostPages::Piece> HostPages::create(Bytes size) {
  check_whole(size);
  if (size > kFileSize - end_ || !room_->take(size)) return std::nullopt;
  const Piece piece = end_;
  end_ += size;
  pieces_[piece] = {size, 0};
  return piece;
}

void HostPages::destroy(Piece piece) {
  const auto found = pieces_.find(piece);
  if (found == pieces_.end()) throw std::logic_error("host: destroy of an unknown piece");
  const Bytes size = found->second.size;
  if (found->second.mappings != 0) throw std::logic_error("host: destroy of a mapped piece");
  if (::fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(piece),
                  static_cast<off_t>(size)) != 0) {
    throw_system_error("fallocate");
  }
  room_->give_back(size);
  pieces_.erase(found);
}

bool HostPages::map(Address at, Bytes size, Piece piece) {
  const auto found = pieces_.find(piece);
  if (found == pieces_.end() || found->second.size != size) {
    throw std::logic_error("host: map of an unknown piece, or of a part of one");
  }
  if (!reserved(at, size) || any_mapped(at, size)) {
    throw std::logic_error("host: map at addresses that are not reserved or are mapped");
  }
  if (::mmap(pointer_to(at), size, PROT_NONE, MAP_SHARED | MAP_FIXED, file_,
             static_cast<off_t>(piece)) == MAP_FAILED) {
    if (errno == ENOMEM) return false;
    throw_system_error("mmap");
  }
  mappings_[at] = {size, piece};
  ++found->second.mappings;
  return true;
}

bool HostPages::set_access(Address at, Bytes size) {
  auto mapping = mappings_.find(at);
  Bytes covered = 0;
  while (covered < size && mapping != mappings_.end() && mapping->first == at + covered) {
    covered += mapping->second.size;
    ++mapping;
  }
  if (covered != size) throw std::logic_error("host: access to addresses that are not mapped");
  if (::mprotect(pointer_to(at), size, PROT_READ | PROT_WRITE) == 0) return true;
  if (errno != ENOMEM) throw_system_error("mprotect");
  return false;
}

void HostPages::unmap(Address at, Bytes size) {
  const auto found = mappings_.find(at);
  if (found == mappings_.end() || found->second.size != size) {
    throw std::logic_error("host: unmap of what was not mapped so");
  }
  if (::mmap(pointer_to(at), size, PROT_NONE, kNothing | MAP_FIXED, -1, 0) == MAP_FAILED) {
    throw_system_error("mmap");
  }
  --pieces_.at(found->second.piece).mappings;
  mappings_.erase(found);
}

bool HostPages::reserved(Address at, Bytes size) const {
  auto above = reservations_.upper_bound(at);
  if (above == reservations_.begin()) return false;
  const auto& [from, length] = *std::prev(above);
  return at - from <= length && size <= length - (at - from);
}

bool HostPages::any_mapped(Address at, Bytes size) const {
  const auto above = mappings_.lower_bound(at);
  if (above != mappings_.end() && above->first - at < size) return true;
  if (above == mappings_.begin()) return false;
  const auto& [from, below] = *std::prev(above);
  return at - from < below.size;
}

void HostPages::check_whole(Bytes size) const {
  if (size == 0 || size % page_ != 0) throw std::logic_error("host: not a number of whole pages");
}

}  // namespace memreplay

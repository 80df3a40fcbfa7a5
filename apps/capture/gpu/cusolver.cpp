#include <algorithm>

#include "answers.hpp"

// cuSOLVER. How much its routines want is nowhere written down: the model is the workspace that
// LAPACK's reference gives for the routine of the same name, in blocks of 32 columns. LU and
// Cholesky need none there.
using namespace memreplay::gpu;

namespace {

constexpr std::size_t kBlock = 32;

template <class Integer>
std::size_t blocked(Integer columns) {
  return kBlock * static_cast<std::size_t>(columns);
}

std::size_t of_gesvd(int rows, int columns) {
  const auto [small, large] = std::minmax(rows, columns);
  return static_cast<std::size_t>(std::max(3 * small + large, 5 * small));
}

/// LAPACK's gesvj, which works in place: for each matrix of the batch its sides.
std::size_t of_gesvj(int rows, int columns, int batch) {
  return static_cast<std::size_t>(rows + columns) * static_cast<std::size_t>(batch);
}

/// syevd: with vectors or without.
template <class Integer>
std::size_t of_syevd(int vectors, Integer columns) {
  const auto n = static_cast<std::size_t>(columns);
  return vectors ? 1 + 6 * n + 2 * n * n : 1 + 2 * n;
}

Status give_both(const char* function, std::size_t count, int type, std::size_t* on_device,
                 std::size_t* on_host) {
  *on_host = 0;
  return give_modelled(function, on_device, count * size_of_type(type));
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Status cusolverDnCreate(Handle* library) { return give_library(library); }
Status cusolverDnCreateParams(Handle* parameters) { return give_handle(parameters); }
Status cusolverDnCreateGesvdjInfo(Handle* info) { return give_handle(info); }
Status cusolverDnCreateSyevjInfo(Handle* info) { return give_handle(info); }

#define MEMREPLAY_GIVE(NAME, COUNT, SIZE) return give_modelled(#NAME, to, COUNT, SIZE)
#define MEMREPLAY_FACTORS(T, SIZE)                                                                \
  Status cusolverDn##T##geqrf_bufferSize(Handle, int, int n, void*, int, int* to) {               \
    MEMREPLAY_GIVE(cusolverDn##T##geqrf, blocked(n), SIZE);                                       \
  }                                                                                               \
  Status cusolverDn##T##getrf_bufferSize(Handle, int, int, void*, int, int* to) {                 \
    MEMREPLAY_GIVE(cusolverDn##T##getrf, 0, SIZE);                                                \
  }                                                                                               \
  Status cusolverDn##T##potrf_bufferSize(Handle, int, int, void*, int, int* to) {                 \
    MEMREPLAY_GIVE(cusolverDn##T##potrf, 0, SIZE);                                                \
  }                                                                                               \
  Status cusolverDn##T##sytrf_bufferSize(Handle, int n, void*, int, int* to) {                    \
    MEMREPLAY_GIVE(cusolverDn##T##sytrf, blocked(n), SIZE);                                       \
  }                                                                                               \
  Status cusolverDn##T##gesvd_bufferSize(Handle, int m, int n, int* to) {                         \
    MEMREPLAY_GIVE(cusolverDn##T##gesvd, of_gesvd(m, n), SIZE);                                   \
  }                                                                                               \
  Status cusolverDn##T##gesvdj_bufferSize(Handle, int, int, int m, int n, const void*, int,       \
                                          const void*, const void*, int, const void*, int,        \
                                          int* to, Handle) {                                      \
    MEMREPLAY_GIVE(cusolverDn##T##gesvdj, of_gesvj(m, n, 1), SIZE);                               \
  }                                                                                               \
  Status cusolverDn##T##gesvdjBatched_bufferSize(Handle, int, int m, int n, const void*, int,     \
                                                 const void*, const void*, int, const void*, int, \
                                                 int* to, Handle, int batch) {                    \
    MEMREPLAY_GIVE(cusolverDn##T##gesvdjBatched, of_gesvj(m, n, batch), SIZE);                    \
  }                                                                                               \
  Status cusolverDn##T##gesvdaStridedBatched_bufferSize(                                          \
      Handle, int, int, int m, int n, const void*, int, long long, const void*, long long,        \
      const void*, int, long long, const void*, int, long long, int* to, int batch) {             \
    MEMREPLAY_GIVE(cusolverDn##T##gesvdaStridedBatched, of_gesvj(m, n, batch), SIZE);             \
  }
MEMREPLAY_FACTORS(S, 4)
MEMREPLAY_FACTORS(D, 8)
MEMREPLAY_FACTORS(C, 8)
MEMREPLAY_FACTORS(Z, 16)
#undef MEMREPLAY_FACTORS

// Orthogonal or unitary, symmetric or Hermitian: the same under two names.
#define MEMREPLAY_NAMED(ORGQR, ORMQR, SYEVD, SYEVJ, SIZE)                                       \
  Status cusolverDn##ORGQR##_bufferSize(Handle, int, int n, int, const void*, int, const void*, \
                                        int* to) {                                              \
    MEMREPLAY_GIVE(cusolverDn##ORGQR, blocked(n), SIZE);                                        \
  }                                                                                             \
  Status cusolverDn##ORMQR##_bufferSize(Handle, int side, int, int m, int n, int, const void*,  \
                                        int, const void*, const void*, int, int* to) {          \
    MEMREPLAY_GIVE(cusolverDn##ORMQR, blocked(side == 0 ? n : m), SIZE);                        \
  }                                                                                             \
  Status cusolverDn##SYEVD##_bufferSize(Handle, int vectors, int, int n, const void*, int,      \
                                        const void*, int* to) {                                 \
    MEMREPLAY_GIVE(cusolverDn##SYEVD, of_syevd(vectors, n), SIZE);                              \
  }                                                                                             \
  Status cusolverDn##SYEVJ##_bufferSize(Handle, int, int, int n, const void*, int, const void*, \
                                        int* to, Handle) {                                      \
    MEMREPLAY_GIVE(cusolverDn##SYEVJ, of_gesvj(n, n, 1), SIZE);                                 \
  }                                                                                             \
  Status cusolverDn##SYEVJ##Batched_bufferSize(Handle, int, int, int n, const void*, int,       \
                                               const void*, int* to, Handle, int batch) {       \
    MEMREPLAY_GIVE(cusolverDn##SYEVJ##Batched, of_gesvj(n, n, batch), SIZE);                    \
  }
MEMREPLAY_NAMED(Sorgqr, Sormqr, Ssyevd, Ssyevj, 4)
MEMREPLAY_NAMED(Dorgqr, Dormqr, Dsyevd, Dsyevj, 8)
MEMREPLAY_NAMED(Cungqr, Cunmqr, Cheevd, Cheevj, 8)
MEMREPLAY_NAMED(Zungqr, Zunmqr, Zheevd, Zheevj, 16)
#undef MEMREPLAY_NAMED
#undef MEMREPLAY_GIVE

Status cusolverDnXgeqrf_bufferSize(Handle, Handle, std::int64_t, std::int64_t n, int type,
                                   const void*, std::int64_t, int, const void*, int,
                                   std::size_t* device, std::size_t* host) {
  return give_both("cusolverDnXgeqrf", blocked(n), type, device, host);
}
Status cusolverDnXpotrf_bufferSize(Handle, Handle, int, std::int64_t, int type, const void*,
                                   std::int64_t, int, std::size_t* device, std::size_t* host) {
  return give_both("cusolverDnXpotrf", 0, type, device, host);
}
Status cusolverDnXsyevd_bufferSize(Handle, Handle, int vectors, int, std::int64_t n, int type,
                                   const void*, std::int64_t, int, const void*, int,
                                   std::size_t* device, std::size_t* host) {
  return give_both("cusolverDnXsyevd", of_syevd(vectors, n), type, device, host);
}
Status cusolverDnXsyevBatched_bufferSize(Handle, Handle, int vectors, int, std::int64_t n, int type,
                                         const void*, std::int64_t, int, const void*, int,
                                         std::size_t* device, std::size_t* host,
                                         std::int64_t batch) {
  return give_both("cusolverDnXsyevBatched", of_syevd(vectors, n) * static_cast<std::size_t>(batch),
                   type, device, host);
}
/// LAPACK's geev with vectors.
Status cusolverDnXgeev_bufferSize(Handle, Handle, int, int, std::int64_t n, int type, const void*,
                                  std::int64_t, int, const void*, int, const void*, std::int64_t,
                                  int, const void*, std::int64_t, int, std::size_t* device,
                                  std::size_t* host) {
  return give_both("cusolverDnXgeev", 4 * static_cast<std::size_t>(n), type, device, host);
}
/// LAPACK's sytrs2.
Status cusolverDnXsytrs_bufferSize(Handle, int, std::int64_t n, std::int64_t, int type, const void*,
                                   std::int64_t, const std::int64_t*, int, void*, std::int64_t,
                                   std::size_t* device, std::size_t* host) {
  return give_both("cusolverDnXsytrs", static_cast<std::size_t>(n), type, device, host);
}

}  // extern "C"
#pragma GCC visibility pop

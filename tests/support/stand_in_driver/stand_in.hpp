#pragma once

#include <cstdint>

/// A TEST DOUBLE of the CUDA driver: host memory behind the calls that memreplay makes, so that
/// they can be tested without a GPU. It is no emulator, says nothing about speed, and is never
/// installed. Work on streams is put off until something waits for it, newest first: a missing wait
/// shows. What a program does wrong with it is counted and described. In the environment it is told
/// by STAND_IN_CAPACITY (bytes), STAND_IN_FAIL_CALL (the how many-th), STAND_IN_FAIL_WITH (a
/// CUresult), STAND_IN_LATENCY_US and STAND_IN_REPORT (a file, written when the program ends).
extern "C" {

/// Forgets all that is live and all counts; settings as in the environment.
void stand_in_reset();

void stand_in_set_capacity(std::uint64_t bytes);
void stand_in_set_latency_us(std::uint64_t us);  ///< applies to every call
void stand_in_set_devices(int count);
void stand_in_set_attribute(int attribute, int value);  ///< a CUdevice_attribute of all devices

/// The n-th call from now, from 1, returns `error` and does nothing; once. `name` as in cuda.h,
/// without a version; null: calls of any name.
void stand_in_fail_call(const char* name, std::uint64_t n, int error);
/// The call that failed by order; empty: none did since the last reset.
const char* stand_in_failed_call();

std::uint64_t stand_in_calls(const char* name);  ///< null: of any name

/// Descriptions stand a line each, and are good until the next call of the same function.
std::uint64_t stand_in_leaks();
const char* stand_in_leaks_text();
std::uint64_t stand_in_misuse();
const char* stand_in_misuse_text();
}

#pragma once

namespace memreplay::gpu {

/// Which engine cuDNN puts first, by pass: trees as `chosen` in convolutions.cpp reads them, with
/// the names of its numbers and engines. Each was fitted to as many answers of cuDNN without a
/// device as its card's line says; a fifth more was kept apart to measure with.
struct CardEngines {
  int below;  ///< for cards whose capability, times ten, is less
  const char* forward;
  const char* data;
  const char* filter;
};

// clang-format off
constexpr CardEngines kCards[] = {
    // 7.0, cuDNN 9.10: V100; 1,447 forward, 1,528 data, 533 filter
    {75,
     "f32 1 cg 4 taps 17 - taps 50 work 1300 offs phase offs depth 1700 ai 50 c 70 offs raw nhwc "
     "1 hw 800 all depth 130 all n 3 all src - ai 2000 hw 1100 sums all all depth 260 nhwc 1 pq "
     "500 - kg 21 c 25 work 4 - offs - offs - s 2 d 2 taps 10 g 2 taps 2 offs winoio - hw 800 "
     "all c 40 first offs d 7 offs - depth 2100 offs nhwc 1 hw 2000 all offs offs",
     "f32 1 cg 33 s 3 depth 900 all nhwc 1 phase all first s 2 work 3400 taps 2 all depth 1300 "
     "ai 670 all src sums nhwc 1 hw 200 sums n 2 sums src work 30000 c 300 offs split offs all s "
     "2 cg 41 depth 130 cg 17 - work 9 first offs first taps 2 work 60 first offs d 2 taps 10 g "
     "2 ai 723 k 130 winoio first winoio ai 470 first winoio work 11000 first offs n 9 hw 500 "
     "first nhwc 1 d 7 offs - first offs ai 9.998 - first",
     "f32 1 all4 c 150 - depth 8100 depth 900 - hw 1100 depth 3000 pq 100 offs ai 1200 - offs - "
     "- -"},
    // 7.5, cuDNN 9.19: T4 and TITAN RTX together; 9,066 forward, 8,976 data, 2,188 filter
    {80,
     "f32 1 cmod 5 depth 50 nhwc 1 c 4 work 70 - offs - - pq 600 sm 50 taps 300 first raw all "
     "nhwc 1 offs - depth 1540 taps 5 c 100 offs all all4 pq 500 sums all g 2 s 2 depth 130 nhwc "
     "1 work 41 - offs - d 2 taps 10 taps 2 offs winoio sm 50 nhwc 1 n 13 - c 41 offs all offs "
     "offs offs nhwc 1 pq 330 offs work 112 c 10 offs - taps 100 offs - depth 200 ai 235 - k 70 "
     "first - offs -",
     "f32 1 cg 5 s 3 s 2 all hw 10000 - phase first depth 2100 all nhwc 1 hw 300 s 2 sums ai 250 "
     "sums all all - s 2 g 2 taps 2 n 2 hw 800 first offs offs d 2 taps 10 ai 270 k 41 nhwc 1 sm "
     "50 - n 9 hw 20000 k 25 wino - - wino c 2 fsrc first first winoio ai 1340 first offs ai 520 "
     "first d 7 n 5 first d 5 offs sm 50 first offs first ai 35.95 - ai 430 first winoio g 9 c 2 "
     "fsrc first -",
     "f32 1 nhwc 1 work 28 kg 70 - all all - -"},
    // 8.0, cuDNN 9.19: A100; 6,183 forward, 6,129 data, 1,442 filter
    {86,
     "f32 1 depth 50 - c 31 depth 190 ai 247 - f16 1 all all4 all all cmod 3 depth 200 g 10 ai "
     "91.53 nhwc 1 work 57 - taps 10 offs s 3 raw offs - nhwc 1 tf32 1 - work 250 - raw fsrc - "
     "tf32 1 - n 2 fsrc all nhwc 1 tf32 1 pq 330 - work 4200 - offs taps 2 ai 64 work 80 - offs "
     "pq 260 - src c 330 depth 260 g 5 s 2 wino - all taps 10 g 2 src all work 210 all src raw "
     "tf32 1 - fsrc",
     "f32 1 cg 31 s 3 depth 50 - all taps 100 nhwc 1 raw first f16 1 all first depth 4100 all s "
     "2 depth 9000 all ai 5300 sums all all nhwc 1 tf32 1 - cg 4 depth 1540 - s 3 hw 17000 - "
     "phase n 5 k 200 - all pq 300 ai 190 raw - raw work 420 taps 2 ai 33 - allw work 23 - all "
     "depth 2100 allw s 2 work 27000 kg 400 all sums allw allw cg 4 cg 2 g 10 fsrc - first tf32 "
     "1 first fsrc",
     "tf32 1 - ai 93.91 work 8.389 - f32 1 all cmod 2 - all all"},
    // 8.6 and 8.9, cuDNN 9.19: RTX 4090; as many
    {90,
     "f32 1 cmod 5 nhwc 1 f16 1 - work 37.75 - offs - depth 130 taps 2 - all depth 2900 all ai "
     "773 sums c 1100 all sums nhwc 1 depth 200 hw 3200 - ai 42.67 - offs tf32 1 offs c 150 taps "
     "17 s 2 d 2 k 41 wino src src src k 170 k 41 all src taps 200 raw n 2 raw - taps 2 offs ai "
     "615 kg 170 all split work 16000 kg 400 all sums src tf32 1 - cg 120 depth 65 - fsrc taps 2 "
     "- hw 1300 first fsrc",
     "f32 1 cmod 3 k 120 ai 200 s 2 c 17 all - work 80 g 17 all - taps 50 all4 all phase nhwc 1 "
     "- all all c 4 nhwc 1 s 3 - tf32 1 - raw first nhwc 1 tf32 1 s 2 work 3400 - offs - ai "
     "137.7 cg 21 - s 2 hw 300 - c 50 allw offs depth 1100 depth 90 - work 700 allw - - depth "
     "1100 s 2 c 70 work 53 - d 2 wino all allw allw allw tf32 1 first g 2 fsrc ai 46 - first",
     "cg 120 tf32 1 - ai 215.8 f32 1 work 10.04 - all - hw 17000 all f32 1 all ai 390 - phase "
     "tf32 1 - all"},
    // 9.0, cuDNN 9.19: H100; 7,477 forward, 7,395 data; filter: filter_on_hopper
    {100,
     "cmod 5 nhwc 1 ai 211.9 - f32 1 f16 1 work 1210 - all pq 2000 k 400 - all all4 tf32 1 - k "
     "70 raw depth 200 k 100 all src n 40 ai 710 - raw all f32 1 f16 1 all - c 4 tf32 1 - work "
     "240 - fsrc - tf32 1 first depth 520 f32 1 all nhwc 1 c 90 work 140 depth 290 - src ai "
     "42.66 - kg 120 s 2 all - src all - f32 1 all nhwc 1 depth 1540 work 740 c 170 c 41 all src "
     "all all all -",
     "tf32 1 g 2 first - s 3 f32 1 kg 5 cg 2 nhwc 1 f16 1 - s 2 all - - all4 all ai 285.8 cg 4 "
     "nhwc 1 k 25 s 2 all - - ai 52.34 ai 17.8 all ai 49.22 first all first nhwc 1 work 76 c 170 "
     "- depth 1100 all - depth 3500 ai 51.15 g 10 - all all - all work 643 work 178 - all all "
     "nhwc 1 n 9 taps 200 work 310 pq 800 raw - - raw pq 70 n 50 raw - - first",
     "-"},
    // 10.0, cuDNN 9.19: B200; 6,181 forward, 6,129 data, 1,442 filter
    {120,
     "depth 193 nhwc 1 depth 65 - c 90 work 2500 - f32 1 f16 1 all all4 ai 220 - tf32 1 - raw "
     "tf32 1 - all f32 1 - work 540 c 200 - g 100 fsrc - tf32 1 - taps 2 - fsrc tf32 1 - depth "
     "4900 c 31 f32 1 f16 1 all raw nhwc 1 raw taps 100 - fsrc f32 1 all work 463 c 200 nhwc 1 "
     "taps 10 work 160 src ai 410 all src all - all raw work 10300 all work 60000 sums f32 1 all "
     "depth 17000 work 155000 sums tiles all",
     "tf32 1 first cmod 5 depth 17000 nhwc 1 f32 1 pq 5000 depth 100 - s 3 all hw 13000 hw 2000 "
     "- all work 900 raw - s 2 all n 4 all phase work 3630 - all all nhwc 1 taps 200 - f32 1 raw "
     "work 610 - raw first depth 4100 work 513 nhwc 1 k 170 f32 1 pq 500 hw 800 depth 520 ai "
     "42.56 - all all - all taps 2 ai 16 - all - all all g 2 all nhwc 1 all cg 200 f32 1 - fsrc "
     "first s 2 depth 10000 all sums all",
     "tf32 1 - ai 204.7 work 17 - cmod 5 f32 1 all - all k 150 work 830 all nhwc 1 tiles all all"},
    // 12.0, cuDNN 9.19: RTX 5090; as many
    {10000,
     "depth 190 nhwc 1 f32 1 cmod 5 f16 1 - work 64 - cg 2 - raw k 200 ai 32 - all all ai 213.2 "
     "- tf32 1 - work 310 - n 40 raw - - f32 1 cmod 5 n 3 - raw depth 4100 all ai 680 sums depth "
     "11000 all sums nhwc 1 tf32 1 - cg 400 taps 100 taps 2 - work 1650 g 10 raw - kg 90 all pq "
     "7000 hw 800 all n 3 all work 26100 raw src src offs taps 2 allw sums tf32 1 - c 400 g 2 "
     "fsrc first first",
     "f32 1 cg 25 taps 30 s 2 kg 5 cg 2 f16 1 - all raw all nhwc 1 ai 16.91 - hw 5000 all - all "
     "taps 50 ai 242 all phase depth 160000 nhwc 1 depth 50000 all taps 200 all raw first ai 580 "
     "first nhwc 1 raw first all nhwc 1 cg 21 - tf32 1 - ai 284.7 cg 130 work 126 - taps 2 - all "
     "taps 5 allw - taps 2 allw work 2090 work 210 - k 150 all ai 471 - all all cg 9 g 10 ai "
     "17.71 fsrc first - tf32 1 first fsrc",
     "tf32 1 - cg 100 ai 305.9 f32 1 work 10.04 - k 100 work 6000 work 57 - all tiles kg 5 - all "
     "- all raw"},
};
// clang-format on

}  // namespace memreplay::gpu

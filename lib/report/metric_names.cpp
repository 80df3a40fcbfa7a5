#include "report/metric_names.hpp"

namespace memreplay {

std::span<const MetricName> metric_names() {
  static constexpr MetricName kNames[] = {
      {"peak_requested_bytes", "requested", "peak of the sizes asked for by live blocks"},
      {"peak_allocated_bytes", "MaxInUse", "peak of the same after the strategy's rounding"},
      {"peak_reserved_bytes", "reserved", "peak of the bytes held from the device"},
      {"gap_bytes", "gap", "peak reserved - peak allocated"},
      {"gap_at_peak_reserved_bytes", "", "reserved - allocated when reserved was highest"},
      {"end_requested_bytes", "", "requested after the last event"},
      {"end_allocated_bytes", "", "allocated after the last event"},
      {"end_reserved_bytes", "", "reserved after the last event"},
      {"internal_fragmentation", "internal", "1 - requested / allocated at the allocated peak"},
      {"external_fragmentation", "external", "1 - largest free / all free at the reserved peak"},
      {"lower_bound_bytes", "lower bound", "peak of live bytes under the strategy's rounding"},
      {"efficiency", "", "peak requested / peak reserved"},
      {"ooms", "OOM", "requests that were not served"},
      {"oom_retries", "retries", "refused device allocations answered by a release"},
      {"first_oom", "", "event, size and free memory of the first OOM"},
      {"device_allocs", "device calls", "regions obtained from the device"},
      {"device_frees", "device calls", "regions returned to the device"},
      {"device_maps", "device calls", "memory mapped into reserved addresses"},
      {"device_unmaps", "device calls", "memory unmapped from reserved addresses"},
      {"syncs", "", "times the strategy waited for the device"},
      {"stream_waits", "", "times a stream waited for another"},
      {"segments_peak", "", "most regions held at once"},
      {"segments_end", "", "regions held after the last event"},
      {"timing", "ns/op", "seconds replayed, and of device calls by the model"},
      {"counters", "", "the strategy's own statistics, under the original's names"},
  };
  return kNames;
}

}  // namespace memreplay

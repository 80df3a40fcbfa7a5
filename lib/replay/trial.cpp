#include "replay/trial.hpp"

#include "replay/planning.hpp"
#include "replay/what_if.hpp"

namespace memreplay {

Trial::Trial(const Subject& subject, const StrategySpec& spec, const TrialOptions& options,
             std::shared_ptr<const Plan> plan)
    : subject_(subject),
      adopt_start_(adopts_start(subject, spec, options.torch_version)),
      simulated_(options.device),
      logged_(simulated_),
      device_(options.log_device ? static_cast<DeviceModel*>(&logged_) : &simulated_) {
  if (options.audit) {
    ledger_.emplace(spec.text);
    device_ = &audited_.emplace(*device_, *ledger_);
  }
  if (options.watch_capacity) watched_.emplace(*device_, options.device.granularity);
  StrategyContext context{.device = watched_ ? static_cast<DeviceModel&>(*watched_) : *device_,
                          .capacity = options.device.capacity,
                          .recorded = subject.settings(),
                          .torch_version = subject.version_for(spec, options.torch_version),
                          .pools = subject.trace().pools,
                          .texts = subject.recording().texts,
                          .plan = std::move(plan),
                          .uses = options.uses};
  if (subject.verified()) context.pool_options = subject.verified()->reading.pool_options;
  strategy_ = make_strategy(spec, context);
}

ReplayResult Trial::run(ReplayOptions replaying) {
  replaying.adopt_start = adopt_start_;
  if (subject_.verified()) replaying.reading = &subject_.verified()->reading;
  if (ledger_) replaying.ledger = &*ledger_;
  return replay(subject_.trace(), *strategy_, *device_, replaying);
}

std::shared_ptr<const Plan> plan_for(const Subject& subject, const StrategySpec& spec,
                                     ReplayOptions replaying) {
  const auto wish = plan_wish(spec);
  if (!wish) return nullptr;
  if (subject.verified()) replaying.reading = &subject.verified()->reading;
  return make_plan(subject.trace(), *wish, replaying);
}

}  // namespace memreplay

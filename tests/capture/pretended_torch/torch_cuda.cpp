extern "C" int ncclAllReduce();
extern "C" int ncclOfTorchItself();
extern "C" int allocate();
extern "C" int cudaMaybe() __attribute__((weak));
extern "C" int train() {
  return 100 + allocate() + ncclAllReduce() + ncclOfTorchItself() + (cudaMaybe ? 50 : 0);
}

extern "C" int ncclAllReduce() { return 2; }
extern "C" int ncclOfTorchItself() { return 2; }

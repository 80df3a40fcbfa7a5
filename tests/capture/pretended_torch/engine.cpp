extern "C" int cudaGetWhatIsNew();
extern "C" int cudaMalloc();
extern "C" int infer() { return cudaMalloc() + cudaGetWhatIsNew(); }

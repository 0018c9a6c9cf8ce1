/* A stand-in for NVIDIA's management library with two devices, for machines without a GPU. Driven
 * by the environment: FAKE_NVML=notloaded   nvmlInit_v2 answers "Driver Not Loaded" FAKE_NVML=hang
 * reading the memory of device 1 never returns FAKE_NVML=refuse      everything but memory is "Not
 * Supported", as on some cards FAKE_NVML_PID=n       the process that holds 2 GiB of device 0
 *   FAKE_NVML_XID=n       one Xid event of device 1 is waiting
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kSuccess = 0, kNotSupported = 3, kNotLoaded = 9, kTimeout = 10 };

struct memory {
  unsigned long long total, free, used;
};
struct utilization {
  unsigned gpu, memory;
};
struct process {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};
struct event {
  void* device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};

static int devices[2];
static int xid_taken;

static int mode(const char* name) {
  const char* value = getenv("FAKE_NVML");
  return value != NULL && strcmp(value, name) == 0;
}
static int index_of(void* device) { return device == &devices[1] ? 1 : 0; }
static int refused(void) { return mode("refuse") ? kNotSupported : kSuccess; }

int nvmlInit_v2(void) {
  xid_taken = 0;
  return mode("notloaded") ? kNotLoaded : kSuccess;
}
int nvmlShutdown(void) { return kSuccess; }
const char* nvmlErrorString(int code) {
  return code == kNotLoaded ? "Driver Not Loaded" : "Unknown Error";
}
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  strncpy(text, "999.1", size);
  return kSuccess;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return kSuccess;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = &devices[index];
  return kSuccess;
}
int nvmlDeviceGetUUID(void* device, char* text, unsigned size) {
  strncpy(text, index_of(device) ? "GPU-fake-1" : "GPU-fake-0", size);
  return kSuccess;
}
int nvmlDeviceGetName(void* device, char* text, unsigned size) {
  (void)device;
  strncpy(text, "Fake GPU", size);
  return kSuccess;
}
int nvmlDeviceGetMemoryInfo(void* device, struct memory* memory) {
  while (mode("hang") && index_of(device) == 1) {
    pause();
  }
  memory->total = 16ULL << 30;
  memory->used = (index_of(device) ? 1ULL : 3ULL) << 30;
  memory->free = memory->total - memory->used;
  return kSuccess;
}
int nvmlDeviceGetUtilizationRates(void* device, struct utilization* use) {
  use->gpu = index_of(device) ? 0 : 97;
  use->memory = 40;
  return refused();
}
int nvmlDeviceGetTemperature(void* device, unsigned sensor, unsigned* celsius) {
  (void)device;
  *celsius = sensor == 0 ? 71 : 0;
  return refused();
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  (void)device;
  *milliwatts = 250000;
  return refused();
}
/* Only the older name: the library under test must fall back to it. */
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
  (void)device;
  *reasons = 0x20;
  return refused();
}
int nvmlDeviceGetTotalEccErrors(void* device, unsigned type, unsigned counter,
                                unsigned long long* count) {
  *count = type == 1 && counter == 0 ? (unsigned long long)index_of(device) : 99;
  return refused();
}
int nvmlDeviceGetClockInfo(void* device, unsigned type, unsigned* mhz) {
  (void)device;
  *mhz = type == 1 ? 1410 : 1;
  return refused();
}
int nvmlDeviceGetComputeRunningProcesses_v2(void* device, unsigned* count,
                                            struct process* processes) {
  const char* pid = getenv("FAKE_NVML_PID");
  if (pid == NULL || index_of(device) != 0) {
    *count = 0;
    return refused();
  }
  processes[0] = (struct process){(unsigned)atoi(pid), 2ULL << 30, 0, 0};
  processes[1] = (struct process){1, ~0ULL, 0, 0}; /* "Not available" */
  *count = 2;
  return refused();
}
int nvmlEventSetCreate(void** set) {
  *set = devices;
  return kSuccess;
}
int nvmlEventSetFree(void* set) {
  (void)set;
  return kSuccess;
}
int nvmlDeviceRegisterEvents(void* device, unsigned long long types, void* set) {
  (void)device;
  (void)set;
  return types == 8 ? kSuccess : kNotSupported;
}
int nvmlEventSetWait_v2(void* set, struct event* event, unsigned milliseconds) {
  const char* xid = getenv("FAKE_NVML_XID");
  (void)set;
  (void)milliseconds;
  if (xid == NULL || xid_taken) {
    return kTimeout;
  }
  xid_taken = 1;
  *event = (struct event){&devices[1], 8, (unsigned long long)atoi(xid), 0, 0};
  return kSuccess;
}

/* What the program asks of glibc that glibc 2.31 does not have yet, for packages that have to start there too. Linked only with
   WHYSTOP_OLD_GLIBC, after which tools/lower_glibc.py asks for the older of two versions of all other functions. On a newer glibc
   these definitions stand in for its own within the program, and do the same. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <fcntl.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Files: until 2.33 these were __xstat and the like, linked statically. The kernel's struct is glibc's on 64-bit machines. */

static int stat_at(int folder, const char* path, void* out, int flags) {
  return (int)syscall(SYS_newfstatat, folder, path, out, flags);
}

int stat(const char* path, struct stat* out) { return stat_at(AT_FDCWD, path, out, 0); }
int lstat(const char* path, struct stat* out) { return stat_at(AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW); }
int fstat(int fd, struct stat* out) { return (int)syscall(SYS_fstat, fd, out); }
int fstatat(int folder, const char* path, struct stat* out, int flags) { return stat_at(folder, path, out, flags); }
int stat64(const char* path, struct stat64* out) { return stat_at(AT_FDCWD, path, out, 0); }
int lstat64(const char* path, struct stat64* out) { return stat_at(AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW); }
int fstat64(int fd, struct stat64* out) { return (int)syscall(SYS_fstat, fd, out); }

/* Descriptors: the callers do without where the kernel refuses it. */
int close_range(unsigned first, unsigned last, int flags) { return (int)syscall(SYS_close_range, first, last, flags); }

/* Never set here: what asks is only told that there may be several threads, which is always safe. */
char __libc_single_threaded = 0;

/* std::random_device's, which is a seed and no secret: where the kernel gives nothing more, what it gave at the start has to do. */
uint32_t arc4random(void) {
  uint32_t out = 0;
  if (getrandom(&out, sizeof out, GRND_NONBLOCK) != (ssize_t)sizeof out) {
    static uint32_t times;
    memcpy(&out, (const void*)getauxval(AT_RANDOM), sizeof out);
    out += 0x9E3779B9U * ++times;
  }
  return out;
}

const char* sigabbrev_np(int signal) {
  static const char* const kNames[] = {
      NULL,   "HUP",  "INT",  "QUIT", "ILL",    "TRAP", "ABRT", "BUS",  "FPE",  "KILL", "USR1",   "SEGV", "USR2", "PIPE", "ALRM", "TERM",
      "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG",  "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "POLL", "PWR", "SYS"};
  return signal > 0 && (size_t)signal < sizeof kNames / sizeof *kNames ? kNames[signal] : NULL;
}

/* Where the unwinder finds the frames of an address: until 2.35 it walked the list of loaded objects itself. */

struct FrameSearch {
  uintptr_t address;
  struct dl_find_object* out;
};

static int look_for_frames(struct dl_phdr_info* object, size_t size, void* data) {
  (void)size;
  struct FrameSearch* search = data;
  const ElfW(Phdr)* frames = NULL;
  uintptr_t begin = UINTPTR_MAX;
  uintptr_t end = 0;
  int holds = 0;
  for (const ElfW(Phdr)* part = object->dlpi_phdr; part != object->dlpi_phdr + object->dlpi_phnum; ++part) {
    const uintptr_t from = object->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_GNU_EH_FRAME) {
      frames = part;
    } else if (part->p_type == PT_LOAD) {
      begin = from < begin ? from : begin;
      end = from + part->p_memsz > end ? from + part->p_memsz : end;
      holds = holds || (search->address >= from && search->address - from < part->p_memsz);
    }
  }
  if (!holds || frames == NULL) {
    return 0;
  }
  memset(search->out, 0, sizeof *search->out);
  search->out->dlfo_map_start = (void*)begin;
  search->out->dlfo_map_end = (void*)end;
  search->out->dlfo_eh_frame = (void*)(object->dlpi_addr + frames->p_vaddr);
  return 1;
}

int _dl_find_object(void* address, struct dl_find_object* out) {
  struct FrameSearch search = {(uintptr_t)address, out};
  return dl_iterate_phdr(look_for_frames, &search) == 1 ? 0 : -1;
}

/* The start: until 2.34 a program brought the code along that runs its constructors, and a new start file has none. Linked
   with --wrap, so that main() gets it in every glibc; the newer ones run what they are given instead of their own. */

extern void (*__preinit_array_start[])(int, char**, char**) __attribute__((visibility("hidden")));
extern void (*__preinit_array_end[])(int, char**, char**) __attribute__((visibility("hidden")));
extern void (*__init_array_start[])(int, char**, char**) __attribute__((visibility("hidden")));
extern void (*__init_array_end[])(int, char**, char**) __attribute__((visibility("hidden")));
extern void _init(void);

typedef int Main(int, char**, char**);
extern int __real___libc_start_main(Main* main, int argc, char** argv, void (*init)(int, char**, char**), void (*fini)(void),
                                    void (*loader_fini)(void), void* stack_end);
int __wrap___libc_start_main(Main* main, int argc, char** argv, void (*init)(int, char**, char**), void (*fini)(void),
                             void (*loader_fini)(void), void* stack_end);

static void run_constructors(int argc, char** argv, char** environment) {
  for (void (**each)(int, char**, char**) = __preinit_array_start; each != __preinit_array_end; ++each) {
    (*each)(argc, argv, environment);
  }
  _init();
  for (void (**each)(int, char**, char**) = __init_array_start; each != __init_array_end; ++each) {
    (*each)(argc, argv, environment);
  }
}

/* Destructors are the loader's in every version, by the dynamic section. */
int __wrap___libc_start_main(Main* main, int argc, char** argv, void (*init)(int, char**, char**), void (*fini)(void),
                             void (*loader_fini)(void), void* stack_end) {
  return __real___libc_start_main(main, argc, argv, init != NULL ? init : run_constructors, fini, loader_fini, stack_end);
}

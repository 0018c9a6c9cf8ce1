/* whystop_probe._native.watch_signal: who sent the signal that asks this process to end. A handler
 * below Python's own: it writes one record and lets happen what would have happened, the default
 * action or the handler that was there. Python's signal module does not see it, and whatever
 * handler is installed later replaces it; the probe then asks again. */

#include "_native.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define WS_NAME_MAX 16 /* Of a process, as the kernel keeps it. */

static ws_run* witness_run = NULL;
static pid_t witness_pid = 0;           /* A forked child has no ring of its own yet. */
static struct sigaction before[NSIG];   /* What was there; SIG_DFL where nothing was. */

/* "/proc/<pid>/comm"; snprintf is not safe in a handler. */
static void write_path(char* path, long pid) {
  char digits[24];
  int count = 0;
  do {
    digits[count++] = (char)('0' + pid % 10);
    pid /= 10;
  } while (pid > 0);
  char* at = path + strlen(strcpy(path, "/proc/"));
  while (count > 0) {
    *at++ = digits[--count];
  }
  strcpy(at, "/comm");
}

/* The sender's name while it lives. */
static void read_name(long pid, char* name) {
  char path[64];
  name[0] = '\0';
  write_path(path, pid);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return;
  }
  const ssize_t size = read(file, name, WS_NAME_MAX);
  close(file);
  name[size > 0 ? size - 1 : 0] = '\0'; /* In the place of the newline. */
}

static void record(int number, const siginfo_t* info) {
  char name[WS_NAME_MAX + 1] = "";
  const int from_process = info->si_code <= 0; /* kill, tgkill, sigqueue. */
  if (from_process) {
    read_name((long)info->si_pid, name);
  }
  if (strcmp(name, "wskeeper") == 0) {
    return; /* whystop passes on what it was sent, and has noted by whom. */
  }
  const ws_attribute facts[] = {{"signal", NULL, number},
                                {"from_kernel", NULL, !from_process},
                                {"sender_name", name, 0},
                                {"sender_pid", NULL, (double)info->si_pid},
                                {"sender_uid", NULL, (double)info->si_uid}};
  ws_note(witness_run, "signal", -1, facts, from_process ? 5 : 3);
}

static void on_signal(int number, siginfo_t* info, void* context) {
  const int error = errno;
  if (getpid() == witness_pid) {
    record(number, info);
  }
  const struct sigaction* theirs = &before[number];
  if ((theirs->sa_flags & SA_SIGINFO) != 0) {
    errno = error;
    theirs->sa_sigaction(number, info, context);
    return;
  }
  if (theirs->sa_handler != SIG_DFL) {
    errno = error;
    theirs->sa_handler(number);
    return;
  }
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_handler = SIG_DFL;
  sigaction(number, &action, NULL);
  errno = error;
  raise(number); /* Held back until this handler returns; then the default action. */
}

static int is_ours(const struct sigaction* action) {
  return (action->sa_flags & SA_SIGINFO) != 0 && action->sa_sigaction == on_signal;
}

PyObject* ws_watch_signal(PyObject* module, PyObject* args) {
  (void)module;
  PyObject *writer = NULL, *number = NULL;
  if (!PyArg_UnpackTuple(args, "watch_signal", 2, 2, &writer, &number)) {
    return NULL;
  }
  const int signal_number = (int)PyLong_AsLong(number);
  struct sigaction action;
  /* Process 1 of a container ignores what it does not handle. */
  if (PyErr_Occurred() != NULL || getpid() == 1 || signal_number <= 0 || signal_number >= NSIG ||
      sigaction(signal_number, NULL, &action) != 0 || is_ours(&action) ||
      ((action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_IGN)) {
    PyErr_Clear();
    Py_RETURN_FALSE;
  }
  ws_run* run = ws_run_of_writer(writer);
  if (run == NULL) {
    Py_RETURN_FALSE;
  }
  witness_run = run;
  witness_pid = getpid();
  before[signal_number] = action;
  const int handled = (action.sa_flags & SA_SIGINFO) != 0 || action.sa_handler != SIG_DFL;
  if (!handled) {
    memset(&action, 0, sizeof(action));
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
  }
  action.sa_sigaction = on_signal;
  action.sa_flags |= SA_SIGINFO | SA_ONSTACK;
  if (sigaction(signal_number, &action, NULL) != 0) {
    Py_RETURN_FALSE;
  }
  Py_INCREF(writer); /* For good: the handler uses its run. */
  Py_RETURN_TRUE;
}

/* What the files of the extension share. */
#ifndef WHYSTOP_NATIVE_H_
#define WHYSTOP_NATIVE_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "whystop/whystop.h"

/* The run behind a Writer; NULL for any other object. */
ws_run* ws_run_of_writer(PyObject* writer);
/* Add the types of _pulse.c, _bell.c and _feed.c; 0: an exception is set. */
int ws_add_pulse(PyObject* module);
int ws_add_bell(PyObject* module);
int ws_add_feed(PyObject* module);
/* For Bell: tells the loop of an event, if it listens (0: an exception passes); measures what the
 * hooks of a step cost. */
int ws_pulse_event(PyObject* pulse, int kind, PyObject* name);
double ws_pulse_begin(PyObject* pulse);
void ws_pulse_end(PyObject* pulse, double began_s);
/* For Feed: so many steps were made in one go, with this loss or one that is not known yet; the
 * loss of an earlier step. 0: an exception of the user's passes. */
int ws_pulse_made(PyObject* pulse, PyObject* stepper, long long steps, const double* loss);
int ws_pulse_late_loss(PyObject* pulse, long long step, double loss);
long long ws_pulse_step(PyObject* pulse);

/* Behind a call that may have failed for reasons of our own: forgets what it raised. 0: it raised
 * what is never ours, a KeyboardInterrupt say, and that passes on. */
int ws_forgive(void);

/* Behind a listener that failed: what passes on is the user's (a Ctrl-C, what his signal handler raises), and goes on without the
 * frames of ours that it came through first. Nobody looks for those in his traceback. */
void ws_hide_own_frames(void);

/* watch_signal(writer, number): see _witness.c. */
PyObject* ws_watch_signal(PyObject* module, PyObject* args);

/* Kinds of events of the training loop; bits of Pulse.kinds. */
enum { WS_STEP = 1, WS_ZERO_GRAD = 2, WS_LOSS = 4, WS_BACKWARD = 8, WS_DATA = 16 };

#endif /* WHYSTOP_NATIVE_H_ */

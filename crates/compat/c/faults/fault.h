#ifndef FAULT_H
#define FAULT_H

/* What a request that fails answers. SHORT_ writes half, ZERO nothing; both say so. FULL lets no file grow. KILL ends the process before
 * the request. */
enum fault_kind { EIO_, ENOSPC_, EINTR_, SHORT_, ZERO, FULL, KILL };

enum fault_kind fault_named(const char *name);

/* From now on `times` requests fail, those behind the first `n`. */
void fault_arm(long n, enum fault_kind kind, long times);

/* How many requests there were since. */
long fault_passed(void);

#endif

/* steno: sleeping until a number changes. SPDX-License-Identifier: MIT */
#include "base/os.h"

#if defined(__linux__)

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

void os_park_init(struct os_park *p)
{
    (void)p;
}

void os_park_destroy(struct os_park *p)
{
    (void)p;
}

void os_park_wait(struct os_park *p, atomic_uint *number, unsigned seen)
{
    (void)p;
    while (atomic_load(number) == seen) syscall(SYS_futex, number, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

void os_park_wake(struct os_park *p, atomic_uint *number)
{
    (void)p;
    syscall(SYS_futex, number, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

#elif defined(_WIN32)

#include <windows.h>

void os_park_init(struct os_park *p)
{
    (void)p;
}

void os_park_destroy(struct os_park *p)
{
    (void)p;
}

void os_park_wait(struct os_park *p, atomic_uint *number, unsigned seen)
{
    (void)p;
    while (atomic_load(number) == seen) WaitOnAddress(number, &seen, sizeof seen, INFINITE);
}

void os_park_wake(struct os_park *p, atomic_uint *number)
{
    (void)p;
    WakeByAddressAll(number);
}

#else

void os_park_init(struct os_park *p)
{
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->cond, NULL);
}

void os_park_destroy(struct os_park *p)
{
    pthread_cond_destroy(&p->cond);
    pthread_mutex_destroy(&p->lock);
}

void os_park_wait(struct os_park *p, atomic_uint *number, unsigned seen)
{
    pthread_mutex_lock(&p->lock);
    while (atomic_load(number) == seen) pthread_cond_wait(&p->cond, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

void os_park_wake(struct os_park *p, atomic_uint *number)
{
    (void)number;
    pthread_mutex_lock(&p->lock); /* a sleeper is either before its test or already waiting */
    pthread_cond_broadcast(&p->cond);
    pthread_mutex_unlock(&p->lock);
}

#endif

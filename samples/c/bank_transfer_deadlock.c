/* Two transfers in opposite directions: each takes the lock of its own source
 * first.
 *
 * If both hold their first lock, neither gets its second one. The twin of
 * samples/bank_transfer_deadlock.csm: structures, locks and accounts are
 * reached through pointers.
 *
 * Expected: a deadlock of both threads with no output; otherwise "130 170".
 */
#include <pthread.h>
#include <stdio.h>

struct account {
    pthread_mutex_t guard;
    int balance;
};

struct account a = {PTHREAD_MUTEX_INITIALIZER, 100};
struct account b = {PTHREAD_MUTEX_INITIALIZER, 200};

void transfer(struct account *from, struct account *to, int amount) {
    pthread_mutex_lock(&from->guard);
    pthread_mutex_lock(&to->guard);
    from->balance -= amount;
    to->balance += amount;
    pthread_mutex_unlock(&to->guard);
    pthread_mutex_unlock(&from->guard);
}

void *forth(void *unused) {
    transfer(&a, &b, 20);
    return NULL;
}

void *back(void *unused) {
    transfer(&b, &a, 50);
    return NULL;
}

int main(void) {
    pthread_t t1, t2;
    pthread_create(&t1, NULL, forth, NULL);
    pthread_create(&t2, NULL, back, NULL);
    pthread_join(t1, NULL);
    pthread_join(t2, NULL);
    printf("%d %d\n", a.balance, b.balance);
    return 0;
}

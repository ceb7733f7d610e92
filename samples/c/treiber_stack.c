/* A stack without locks (Treiber, 1986): its nodes are made on the heap.
 *
 * Two threads push one value each, then pop one. The head is changed by
 * compare-and-swap alone, and no node is given back, so that no address comes
 * twice: whatever the order, both pops find a value, and the two values are
 * different.
 *
 * Expected: "3", the sum, in all executions; no race.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

static _Atomic(struct node *) head;
static int popped[2];

static void push(int value) {
    struct node *made = malloc(sizeof *made);
    struct node *seen = atomic_load(&head);
    made->value = value;
    do {
        made->next = seen;
    } while (!atomic_compare_exchange_strong(&head, &seen, made));
}

static int pop(void) {
    struct node *seen = atomic_load(&head);
    while (seen && !atomic_compare_exchange_strong(&head, &seen, seen->next))
        ;
    return seen ? seen->value : 0;
}

static void *worker(void *number) {
    long me = (long)number;
    push((int)me + 1);
    popped[me] = pop();
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(popped[0] != 0 && popped[1] != 0);
    printf("%d\n", popped[0] + popped[1]);
    return 0;
}

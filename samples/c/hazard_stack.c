// A stack of Treiber in which a popped node is given back, with one hazard pointer for each thread (Michael, 2004): who is about to look
// into a node says so first, and looks whether the node is still the top; nobody gives back a node that another thread has named. Without
// the second look, `cssame` finds the use after `free`.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

struct node {
    struct node *next;
    int value;
};

static _Atomic(struct node *) top;
static _Atomic(struct node *) hazard[2];

static void push(int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    node->next = atomic_load(&top);
    while (!atomic_compare_exchange_strong(&top, &node->next, node)) {
    }
}

static struct node *pop(int self) {
    struct node *node = atomic_load(&top);
    while (node != NULL) {
        atomic_store(&hazard[self], node);
        if (atomic_load(&top) == node) {
            struct node *expected = node;
            if (atomic_compare_exchange_strong(&top, &expected, node->next)) {
                atomic_store(&hazard[self], NULL);
                return node;
            }
        }
        node = atomic_load(&top);
    }
    atomic_store(&hazard[self], NULL);
    return NULL;
}

// Nodes that another thread still looks at are left to it, and lost here; a real program would keep them for later.
static void *worker(void *argument) {
    int self = (int)(long)argument;
    struct node *node = pop(self);
    if (node != NULL && atomic_load(&hazard[1 - self]) != node) {
        free(node);
    }
    return NULL;
}

int main(void) {
    pthread_t one, other;
    push(1);
    push(2);
    pthread_create(&one, NULL, worker, (void *)0);
    pthread_create(&other, NULL, worker, (void *)1);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}

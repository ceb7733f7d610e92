// Two tasks reserve memory of a common quota, under a lock. The test adds before it compares: where one task has reserved most of the
// quota, the sum of the second one does not fit into an int. On many machines it becomes negative, and the quota is given away twice.
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#define QUOTA INT_MAX

static int reserved;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

static bool reserve(int size) {
    pthread_mutex_lock(&guard);
    bool fits = reserved + size <= QUOTA; // Right: size <= QUOTA - reserved.
    if (fits) reserved += size;
    pthread_mutex_unlock(&guard);
    return fits;
}

static void *task(void *name) {
    printf("%s: %s\n", (char *)name, reserve(1500000000) ? "reserved" : "full");
    return NULL;
}

int main(void) {
    pthread_t disk, net;
    pthread_create(&disk, NULL, task, "disk");
    pthread_create(&net, NULL, task, "net");
    pthread_join(disk, NULL);
    pthread_join(net, NULL);
    return 0;
}

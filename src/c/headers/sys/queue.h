/* BSD: lists and queues by macros. */
#ifndef _CSSAME_SYS_QUEUE_H
#define _CSSAME_SYS_QUEUE_H

#include <stddef.h>

/* Lists in one direction. */
#define SLIST_HEAD(name, type) \
    struct name { \
        struct type *slh_first; \
    }
#define SLIST_HEAD_INITIALIZER(head) { NULL }
#define SLIST_ENTRY(type) \
    struct { \
        struct type *sle_next; \
    }
#define SLIST_FIRST(head) ((head)->slh_first)
#define SLIST_EMPTY(head) (SLIST_FIRST(head) == NULL)
#define SLIST_NEXT(item, field) ((item)->field.sle_next)
#define SLIST_INIT(head) ((void)(SLIST_FIRST(head) = NULL))
#define SLIST_FOREACH(var, head, field) for ((var) = SLIST_FIRST(head); (var); (var) = SLIST_NEXT(var, field))
#define SLIST_INSERT_HEAD(head, item, field) \
    do { \
        SLIST_NEXT(item, field) = SLIST_FIRST(head); \
        SLIST_FIRST(head) = (item); \
    } while (0)
#define SLIST_INSERT_AFTER(before, item, field) \
    do { \
        SLIST_NEXT(item, field) = SLIST_NEXT(before, field); \
        SLIST_NEXT(before, field) = (item); \
    } while (0)
#define SLIST_REMOVE_HEAD(head, field) ((void)(SLIST_FIRST(head) = SLIST_NEXT(SLIST_FIRST(head), field)))

/* Lists from which an item can be taken that is at hand. */
#define LIST_HEAD(name, type) \
    struct name { \
        struct type *lh_first; \
    }
#define LIST_HEAD_INITIALIZER(head) { NULL }
#define LIST_ENTRY(type) \
    struct { \
        struct type *le_next; \
        struct type **le_prev; \
    }
#define LIST_FIRST(head) ((head)->lh_first)
#define LIST_EMPTY(head) (LIST_FIRST(head) == NULL)
#define LIST_NEXT(item, field) ((item)->field.le_next)
#define LIST_INIT(head) ((void)(LIST_FIRST(head) = NULL))
#define LIST_FOREACH(var, head, field) for ((var) = LIST_FIRST(head); (var); (var) = LIST_NEXT(var, field))
#define LIST_FOREACH_SAFE(var, head, field, next) \
    for ((var) = LIST_FIRST(head); (var) && ((next) = LIST_NEXT(var, field), 1); (var) = (next))
#define LIST_INSERT_HEAD(head, item, field) \
    do { \
        LIST_NEXT(item, field) = LIST_FIRST(head); \
        if (LIST_FIRST(head)) LIST_FIRST(head)->field.le_prev = &LIST_NEXT(item, field); \
        LIST_FIRST(head) = (item); \
        (item)->field.le_prev = &LIST_FIRST(head); \
    } while (0)
#define LIST_INSERT_AFTER(before, item, field) \
    do { \
        LIST_NEXT(item, field) = LIST_NEXT(before, field); \
        if (LIST_NEXT(before, field)) LIST_NEXT(before, field)->field.le_prev = &LIST_NEXT(item, field); \
        LIST_NEXT(before, field) = (item); \
        (item)->field.le_prev = &LIST_NEXT(before, field); \
    } while (0)
#define LIST_REMOVE(item, field) \
    do { \
        if (LIST_NEXT(item, field)) LIST_NEXT(item, field)->field.le_prev = (item)->field.le_prev; \
        *(item)->field.le_prev = LIST_NEXT(item, field); \
    } while (0)

/* Queues. */
#define STAILQ_HEAD(name, type) \
    struct name { \
        struct type *stqh_first; \
        struct type **stqh_last; \
    }
#define STAILQ_HEAD_INITIALIZER(head) { NULL, &(head).stqh_first }
#define STAILQ_ENTRY(type) \
    struct { \
        struct type *stqe_next; \
    }
#define STAILQ_FIRST(head) ((head)->stqh_first)
#define STAILQ_EMPTY(head) (STAILQ_FIRST(head) == NULL)
#define STAILQ_NEXT(item, field) ((item)->field.stqe_next)
#define STAILQ_INIT(head) \
    do { \
        STAILQ_FIRST(head) = NULL; \
        (head)->stqh_last = &STAILQ_FIRST(head); \
    } while (0)
#define STAILQ_FOREACH(var, head, field) for ((var) = STAILQ_FIRST(head); (var); (var) = STAILQ_NEXT(var, field))
#define STAILQ_INSERT_HEAD(head, item, field) \
    do { \
        STAILQ_NEXT(item, field) = STAILQ_FIRST(head); \
        if (!STAILQ_NEXT(item, field)) (head)->stqh_last = &STAILQ_NEXT(item, field); \
        STAILQ_FIRST(head) = (item); \
    } while (0)
#define STAILQ_INSERT_TAIL(head, item, field) \
    do { \
        STAILQ_NEXT(item, field) = NULL; \
        *(head)->stqh_last = (item); \
        (head)->stqh_last = &STAILQ_NEXT(item, field); \
    } while (0)
#define STAILQ_REMOVE_HEAD(head, field) \
    do { \
        STAILQ_FIRST(head) = STAILQ_NEXT(STAILQ_FIRST(head), field); \
        if (!STAILQ_FIRST(head)) (head)->stqh_last = &STAILQ_FIRST(head); \
    } while (0)
#define SIMPLEQ_HEAD STAILQ_HEAD
#define SIMPLEQ_HEAD_INITIALIZER STAILQ_HEAD_INITIALIZER
#define SIMPLEQ_ENTRY STAILQ_ENTRY
#define SIMPLEQ_FIRST STAILQ_FIRST
#define SIMPLEQ_EMPTY STAILQ_EMPTY
#define SIMPLEQ_NEXT STAILQ_NEXT
#define SIMPLEQ_INIT STAILQ_INIT
#define SIMPLEQ_FOREACH STAILQ_FOREACH
#define SIMPLEQ_INSERT_HEAD STAILQ_INSERT_HEAD
#define SIMPLEQ_INSERT_TAIL STAILQ_INSERT_TAIL
#define SIMPLEQ_REMOVE_HEAD STAILQ_REMOVE_HEAD

/* Queues in both directions. */
#define TAILQ_HEAD(name, type) \
    struct name { \
        struct type *tqh_first; \
        struct type **tqh_last; \
    }
#define TAILQ_HEAD_INITIALIZER(head) { NULL, &(head).tqh_first }
#define TAILQ_ENTRY(type) \
    struct { \
        struct type *tqe_next; \
        struct type **tqe_prev; \
    }
#define TAILQ_FIRST(head) ((head)->tqh_first)
#define TAILQ_EMPTY(head) (TAILQ_FIRST(head) == NULL)
#define TAILQ_NEXT(item, field) ((item)->field.tqe_next)
#define TAILQ_INIT(head) \
    do { \
        TAILQ_FIRST(head) = NULL; \
        (head)->tqh_last = &TAILQ_FIRST(head); \
    } while (0)
#define TAILQ_FOREACH(var, head, field) for ((var) = TAILQ_FIRST(head); (var); (var) = TAILQ_NEXT(var, field))
#define TAILQ_FOREACH_SAFE(var, head, field, next) \
    for ((var) = TAILQ_FIRST(head); (var) && ((next) = TAILQ_NEXT(var, field), 1); (var) = (next))
#define TAILQ_INSERT_HEAD(head, item, field) \
    do { \
        TAILQ_NEXT(item, field) = TAILQ_FIRST(head); \
        if (TAILQ_FIRST(head)) TAILQ_FIRST(head)->field.tqe_prev = &TAILQ_NEXT(item, field); \
        else (head)->tqh_last = &TAILQ_NEXT(item, field); \
        TAILQ_FIRST(head) = (item); \
        (item)->field.tqe_prev = &TAILQ_FIRST(head); \
    } while (0)
#define TAILQ_INSERT_TAIL(head, item, field) \
    do { \
        TAILQ_NEXT(item, field) = NULL; \
        (item)->field.tqe_prev = (head)->tqh_last; \
        *(head)->tqh_last = (item); \
        (head)->tqh_last = &TAILQ_NEXT(item, field); \
    } while (0)
#define TAILQ_REMOVE(head, item, field) \
    do { \
        if (TAILQ_NEXT(item, field)) TAILQ_NEXT(item, field)->field.tqe_prev = (item)->field.tqe_prev; \
        else (head)->tqh_last = (item)->field.tqe_prev; \
        *(item)->field.tqe_prev = TAILQ_NEXT(item, field); \
    } while (0)

#endif

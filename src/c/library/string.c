/* Functions of ISO C and POSIX on strings, on bytes that are characters, and on kinds of characters, as their standards say; but
   numbers that are too large wrap. */
#include <stddef.h>
#include <stdlib.h>
#include <ctype.h>
#include <errno.h>

#define WEAK __attribute__((weak))

WEAK size_t strlen(const char *s) {
    size_t n = 0;
    while (s[n]) n++;
    return n;
}

WEAK size_t strnlen(const char *s, size_t most) {
    size_t n = 0;
    while (n < most && s[n]) n++;
    return n;
}

WEAK int strcmp(const char *a, const char *b) {
    size_t n = 0;
    for (;;) {
        unsigned char one = a[n], other = b[n];
        if (one != other) return one < other ? -1 : 1;
        if (!one) return 0;
        n++;
    }
}

WEAK int strncmp(const char *a, const char *b, size_t most) {
    for (size_t n = 0; n < most; n++) {
        unsigned char one = a[n], other = b[n];
        if (one != other) return one < other ? -1 : 1;
        if (!one) return 0;
    }
    return 0;
}

WEAK char *strcpy(char *to, const char *from) {
    size_t n = 0;
    while ((to[n] = from[n])) n++;
    return to;
}

WEAK char *stpcpy(char *to, const char *from) {
    size_t n = 0;
    while ((to[n] = from[n])) n++;
    return to + n;
}

WEAK char *strncpy(char *to, const char *from, size_t size) {
    size_t n = 0;
    for (; n < size && from[n]; n++) to[n] = from[n];
    for (; n < size; n++) to[n] = 0;
    return to;
}

WEAK char *strcat(char *to, const char *from) {
    size_t end = 0, n = 0;
    while (to[end]) end++;
    while ((to[end + n] = from[n])) n++;
    return to;
}

WEAK char *strncat(char *to, const char *from, size_t most) {
    size_t end = 0, n = 0;
    while (to[end]) end++;
    for (; n < most && from[n]; n++) to[end + n] = from[n];
    to[end + n] = 0;
    return to;
}

WEAK char *strchr(const char *s, int sign) {
    for (;; s++) {
        char one = *s;
        if (one == (char)sign) return (char *)s;
        if (!one) return NULL;
    }
}

WEAK char *strrchr(const char *s, int sign) {
    const char *last = NULL;
    for (;; s++) {
        char one = *s;
        if (one == (char)sign) last = s;
        if (!one) return (char *)last;
    }
}

WEAK char *strstr(const char *s, const char *part) {
    for (;; s++) {
        size_t n = 0;
        while (part[n] && s[n] == part[n]) n++;
        if (!part[n]) return (char *)s;
        if (!*s) return NULL;
    }
}

WEAK char *strdup(const char *s) {
    size_t size = 1;
    while (s[size - 1]) size++;
    char *made = malloc(size);
    for (size_t n = 0; n < size; n++) made[n] = s[n];
    return made;
}

WEAK char *strndup(const char *s, size_t most) {
    size_t length = 0;
    while (length < most && s[length]) length++;
    char *made = malloc(length + 1);
    for (size_t n = 0; n < length; n++) made[n] = s[n];
    made[length] = 0;
    return made;
}

WEAK int memcmp(const void *a, const void *b, size_t size) {
    const char *left = a, *right = b;
    for (size_t n = 0; n < size; n++) {
        unsigned char one = left[n], other = right[n];
        if (one != other) return one < other ? -1 : 1;
    }
    return 0;
}

WEAK int bcmp(const void *a, const void *b, size_t size) {
    const char *left = a, *right = b;
    for (size_t n = 0; n < size; n++) {
        if (left[n] != right[n]) return 1;
    }
    return 0;
}

WEAK int isdigit(int sign) { return sign >= '0' && sign <= '9'; }
WEAK int islower(int sign) { return sign >= 'a' && sign <= 'z'; }
WEAK int isupper(int sign) { return sign >= 'A' && sign <= 'Z'; }
WEAK int isalpha(int sign) { return (sign >= 'a' && sign <= 'z') || (sign >= 'A' && sign <= 'Z'); }
WEAK int isalnum(int sign) {
    return (sign >= 'a' && sign <= 'z') || (sign >= 'A' && sign <= 'Z') || (sign >= '0' && sign <= '9');
}
WEAK int isspace(int sign) { return sign == ' ' || (sign >= '\t' && sign <= '\r'); }
WEAK int isprint(int sign) { return sign >= ' ' && sign <= '~'; }
WEAK int isxdigit(int sign) {
    return (sign >= '0' && sign <= '9') || (sign >= 'a' && sign <= 'f') || (sign >= 'A' && sign <= 'F');
}
WEAK int isblank(int sign) { return sign == ' ' || sign == '\t'; }
WEAK int iscntrl(int sign) { return (sign >= 0 && sign < ' ') || sign == 127; }
WEAK int isgraph(int sign) { return sign > ' ' && sign <= '~'; }
WEAK int ispunct(int sign) { return isgraph(sign) && !isalnum(sign); }
WEAK int tolower(int sign) { return sign >= 'A' && sign <= 'Z' ? sign - 'A' + 'a' : sign; }
WEAK int toupper(int sign) { return sign >= 'a' && sign <= 'z' ? sign - 'a' + 'A' : sign; }

WEAK long strtol(const char *s, char **end, int base) {
    const char *at = s;
    unsigned long number = 0;
    int negative = 0, digits = 0;
    while (*at == ' ' || (*at >= '\t' && *at <= '\r')) at++;
    if (*at == '-' || *at == '+') negative = *at++ == '-';
    if ((base == 0 || base == 16) && at[0] == '0' && (at[1] == 'x' || at[1] == 'X') && isxdigit(at[2])) {
        at += 2;
        base = 16;
    } else if (base == 0) {
        base = *at == '0' ? 8 : 10;
    }
    for (;; at++) {
        int digit = *at >= '0' && *at <= '9' ? *at - '0' : *at >= 'a' && *at <= 'z' ? *at - 'a' + 10 : 99;
        if (*at >= 'A' && *at <= 'Z') digit = *at - 'A' + 10;
        if (digit >= base) break;
        number = number * (unsigned long)base + (unsigned long)digit;
        digits++;
    }
    if (end) *end = (char *)(digits ? at : s);
    return (long)(negative ? -number : number);
}

WEAK long atol(const char *s) { return strtol(s, NULL, 10); }
WEAK long long atoll(const char *s) { return strtol(s, NULL, 10); }
WEAK int atoi(const char *s) { return (int)strtol(s, NULL, 10); }

WEAK char *strerror(int number) {
    switch (number) {
    case 0: return "Success";
    case EPERM: return "Operation not permitted";
    case ENOENT: return "No such file or directory";
    case ESRCH: return "No such process";
    case EINTR: return "Interrupted system call";
    case EAGAIN: return "Resource temporarily unavailable";
    case ENOMEM: return "Cannot allocate memory";
    case EACCES: return "Permission denied";
    case EBUSY: return "Device or resource busy";
    case EEXIST: return "File exists";
    case EINVAL: return "Invalid argument";
    case ENOSPC: return "No space left on device";
    case EDEADLK: return "Resource deadlock avoided";
    case ETIMEDOUT: return "Connection timed out";
    default: return "Unknown error";
    }
}

/* ISO C: languages and countries. */
#ifndef _CSSAME_LOCALE_H
#define _CSSAME_LOCALE_H

#define LC_CTYPE 0
#define LC_NUMERIC 1
#define LC_TIME 2
#define LC_ALL 6

extern char *setlocale(int, const char *);

#endif

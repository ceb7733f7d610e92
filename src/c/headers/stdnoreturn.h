/* ISO C: functions that do not return. */
#ifndef _CSSAME_STDNORETURN_H
#define _CSSAME_STDNORETURN_H

#define noreturn _Noreturn

#endif

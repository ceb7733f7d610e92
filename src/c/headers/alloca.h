/* Memory that lives as long as the function. */
#ifndef _CSSAME_ALLOCA_H
#define _CSSAME_ALLOCA_H

#define alloca(size) __builtin_alloca(size)

#endif

/* Memory: as in string.h. */
#include <string.h>

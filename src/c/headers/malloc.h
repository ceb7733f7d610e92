/* Memory: as in stdlib.h. */
#include <stdlib.h>

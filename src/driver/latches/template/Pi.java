package cssame;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Marks a pi function: a merge of versions by concurrency. The aspect replaces its calls. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Pi {
    /** The read: {@code a@25:9}. */
    String at();

    /** Its terms, which are the names of versions. */
    String[] terms();

    /** The terms that reach the read by control flow: what it gives where the test selects nothing for it. */
    String[] control();
}

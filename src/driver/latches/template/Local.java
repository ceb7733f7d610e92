package cssame;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Marks a field that is one version of a local which phi functions merge: of one thread, and without a latch. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.FIELD)
public @interface Local {
    /** The variable. */
    String of();

    /** Where it is defined: {@code z@19:9}. */
    String at();
}

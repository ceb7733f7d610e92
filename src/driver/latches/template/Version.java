package cssame;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Marks a field that is one version of a shared variable. It is assigned once, which opens its latch. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.FIELD)
public @interface Version {
    /** The variable. */
    String of();

    /** Where it is defined: {@code a@15:5}. */
    String at();
}

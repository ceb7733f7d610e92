package cssame;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Marks a version of a shared variable that a pi function shows. The field is assigned once, which opens its latch. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.FIELD)
public @interface Version {
    /** The variable. */
    String of();

    /** Where it is defined: {@code a@15:5}. */
    String at();
}
